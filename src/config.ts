const KIB = 1024;
const MIB = 1024 * KIB;
const GIB = 1024 * MIB;
const SECOND = 1000;
const MINUTE = 60 * SECOND;

export const LIMITS = {
  uploadBytes: 5 * GIB,
  imageBytes: 20 * MIB, // what the IMAGES binding accepts
  imagePixels: 100_000_000, // likewise
  jsonBytes: 1 * MIB,
  jsonDepth: 32,
  issues: 1000, // that one answer tells of a part of a request: a megabyte can break more rules
  metadataBytes: 64 * KIB, // of one record: lists hold many
  fieldBytes: 1 * MIB,
  transcriptBytes: 8 * MIB,
  videoSeconds: 12 * 3600,
  redirects: 5,
  fetchMs: 10 * MINUTE,
  fetchIdleMs: 30 * SECOND,
  askMs: 20 * SECOND, // for a platform's whole answer
  askBytes: 4 * MIB,
  pageBytes: 1 * MIB, // of a web page that is looked through for a video
  messageBytes: 127_000, // of a job, in a queue that takes 128,000 with what it adds
  queryCharacters: 2000,
  topK: 500,
  answerTopK: 100,
  languageCharacters: 35, // BCP 47
  assetIds: 500,
  filterRules: 16, // a statement of D1 takes 100 parameters
  pageSize: 100,
} as const;

/**
 * What an account may; days are UTC. An account's row can say otherwise of what is counted (src/store/limits.ts).
 * Shown by `POST /init` and `GET /stats`, with how many requests a minute the deployment allows.
 */
export const ACCOUNT_LIMITS = {
  upload_bytes: LIMITS.uploadBytes,
  image_bytes: LIMITS.imageBytes,
  video_seconds: LIMITS.videoSeconds,
  stored_bytes: 1024 * GIB,
  concurrent_ingests: 2000, // an import may bring 500
  ingest_minutes_per_day: 6000,
  ingest_images_per_day: 50_000,
  searches_per_day: 100_000,
  answers_per_day: 1000,
  keys: 100, // that are valid
  open_uploads: 200, // resumable ones that haven't become assets
} as const;

/** R2 multipart parts: equal but the last, at least 5 MiB. It is also what an upload holds in memory. */
export const PART_BYTES = 8 * MIB;

/** Resumable uploads (docs/uploads.md). */
export const UPLOADS = {
  idleMs: 24 * 60 * MINUTE, // after the last byte, until it is given up
  wholeMs: 7 * 24 * 60 * MINUTE, // from its creation: then R2 gives its parts up
  unheardMs: MINUTE, // after the last byte, until the cron makes an asset of it in its request's place
} as const;

export const MEDIA_URL_MS = 60 * MINUTE;
export const KEY_RECHECK_MS = 60 * SECOND;
export const KEY_USE_SAMPLE_MS = 60 * SECOND;

/** What was done under an `Idempotency-Key` (src/routes/idempotency.ts). */
export const IDEMPOTENCY = {
  keptMs: 24 * 60 * MINUTE,
  leaseMs: 30 * SECOND,
  renewMs: 10 * SECOND,
  perTick: 1000, // answers that a tick of the cron forgets
} as const;

export const INGEST = {
  segmentSeconds: 5,
  partsAtOnce: 8, // of one asset in the queue, so that a long video leaves room for others
  partSegments: 8, // segments described and embedded by one message
  framesAtOnce: 2,
  keyframeWidth: 960,
  /** Small things that get a vector of their own (src/ingest/small-things.ts). */
  regions: { most: 3, minScore: 0.4, maxShare: 0.25, margin: 0.5 },
  leaseMs: 60 * SECOND,
  renewMs: 20 * SECOND,
  askAgainMs: [0.5, 1, 2, 4, 8, 15].map((minutes) => minutes * MINUTE),
  maxAttempts: 12, // more than the queue makes of one message
} as const;

/** Work that a request doesn't wait for (src/queues/jobs.ts). */
export const JOBS = {
  leaseMs: 30 * SECOND,
  renewMs: 10 * SECOND,
  unheardMs: 1 * MINUTE, // until a job is asked for again; each time so much longer
  mostAsks: 8, // of a job that doesn't get on
} as const;

/** How a video's sound is cut into what one model call hears. */
export const LISTEN = {
  maxSeconds: 45,
  minSeconds: 10,
  pieceBytes: 1_000_000,
  overlapSeconds: 2,
  // Beyond these a sentence was made up (the defaults of Whisper's decoder).
  noSpeech: 0.6,
  logProbability: -1,
  compression: 2.4,
} as const;

/**
 * Model ids are named here and nowhere else; a vector records the one that made it. Neurons are per million tokens (input,
 * output) or per minute of sound, by the platform's prices of November 2026; those of `detect` by its maker's ($0.30, $1).
 */
export const MODELS = {
  embedText: {
    id: "@cf/baai/bge-m3",
    dimensions: 1024,
    batch: 96,
    characters: 2000,
    timeoutMs: 30_000,
    neurons: [1075, 0],
  },
  describe: {
    id: "@cf/google/gemma-4-26b-a4b-it",
    maxTokens: 800,
    timeoutMs: 60_000,
    neurons: [9091, 27_273],
  },
  answer: {
    id: "@cf/google/gemma-4-26b-a4b-it",
    maxTokens: 700,
    firstTokenMs: 20_000,
    timeoutMs: 60_000, // for the whole answer
    neurons: [9091, 27_273],
  },
  detect: {
    id: "@cf/moondream/moondream3.1-9B-A2B",
    maxObjects: 20,
    timeoutMs: 10_000,
    neurons: [27_273, 90_909],
  },
  transcribe: {
    id: "@cf/openai/whisper-large-v3-turbo",
    timeoutMs: 110_000,
    neuronsPerMinute: 46.63,
  },
} as const;

/** The picture space's model is a setting of the deployment, not ours to name. */
export const PICTURE_SPACE = { batch: 8, timeoutMs: 30_000 } as const;

export const SEARCH = {
  defaultTopK: 30,
  maxCandidates: 100, // Vectorize's topK
  deeper: 5, // times as many candidates, where the first don't fill a page
  regionHandicap: 0.03, // by so much a region's cosine must be better than a picture's
  keptQueries: 500, // whose vectors an isolate keeps, about 4 MB a space
  clipFrames: { everySeconds: 2, least: 2, most: 8 }, // of a clip that is a query
  clipSpeechSeconds: 45,
  clipSlackSeconds: 0.5, // players round a clip's length up
} as const;

/** Where hits show what the query names (src/search/regions.ts): of one page, the first so many. */
export const REGIONS = {
  detections: 10, // model calls
  askedFrom: 0.2, // of the best hit's score: what is less likely isn't looked at
  masks: 10,
  atOnce: 5, // a Worker has six connections
  withinMs: 15 * SECOND,
  maskSide: 480,
  margin: 0.1, // around a box, of its longer side
  leastShare: 0.01, // of what is looked at: less is nothing that stands out
} as const;

/** How a picture is found again (src/media/signature.ts). */
export const SIGNATURE = {
  side: 96, // pixels each way that a signature is made of
  thumbnailSide: 24,
  keyBits: 20, // of each of the two keys of an area
  maxMatches: 20_000, // rows read for one query
  candidates: 128, // pictures compared for one query
  same: 0.93, // similarity from which two are the same picture, edited
} as const;

/** How a video is looked through: many small stills on one sheet (src/media/sheets.ts). */
export const SHEETS = {
  stills: 96, // on one sheet
  maxSeconds: 60, // what the FRAMES binding looks at in one operation
  maxBytes: 16 * MIB, // of video that a Worker holds for one sheet
  pieces: 2, // what is larger is cut into so many, or looked at by key pictures alone
  sampledPackets: 200, // that tell the bitrate
} as const;

/** How a video is cut into shots (src/media/shots.ts). */
export const SHOTS = {
  partSeconds: 47, // that one message looks through: with the overlap, one sheet
  overlapSeconds: 1, // into the next part, so that what begins in this one is seen to its end
  rounds: 3, // of closer looks, a sheet each
  leastSeconds: 1, // what is shorter is part of a neighbour
  alike: 0.92, // correlation of neighbouring shots from which they are one,
  alikeInDetail: 0.85, // if so much is that of what is fine in them
  mostSeconds: 20, // what is longer is split at pauses, into pieces of about:
  pieceSeconds: 10,
  slack: 0.25, // of a piece, by which a border may lie off
  change: { levels: 4, ratio: 4 }, // between stills of a shot, and over what is usual in it, to split there
  operationsPerHour: 900, // of FRAMES, keyframes included: short shots are joined to keep to it
  operations: 120, // that a shorter video may take
} as const;

/** How the same footage is found (src/search/footage.ts). */
export const FOOTAGE = {
  storedPerSecond: 2, // and looked at to find shots
  thumbnailSide: 16, // of a stored still
  signatures: 4, // of a segment, besides that of its keyframe
  different: 0.9, // correlation of its stills below which each has a signature
  askedPerSecond: 4,
  sheets: 4, // of a clip that is a query
  probes: 6, // stills that are looked up
  alike: 0.98, // correlation of stills from which one of them will do
  likely: 0.8, // similarity from which a stored picture is a trace of the footage
  videos: 5, // that are looked at more closely, by the traces of each that are likest:
  pairs: 24,
  placed: 4,
  slackSeconds: 8, // around all that the traces say
  storedSeconds: 3600, // of a video, that are read and compared: some 30 MB
  rowSeconds: 60, // more than a row of stills holds
  same: 0.85, // similarity from which two are the same footage
} as const;

/** Telling what happens to an index's assets: docs/events.md. */
export const EVENTS = {
  kept: 1000, // for listeners that come back
  listeners: 50, // to one index
  unreadBytes: 64 * KIB, // that are held for a slow listener, besides what it missed
  beatMs: 20 * SECOND,
  streamMs: 1 * MINUTE, // then a listener has to come back: its key is checked again
  retryMs: SECOND,
} as const;

/** Delivering events to a URL (src/durable/delivery.ts). */
export const WEBHOOKS = {
  timeoutMs: 15 * SECOND,
  leaseMs: MINUTE, // of an attempt
  askAgainMs: MINUTE, // where nothing was heard of a queue's message
  tryAgainMs: [5 * SECOND, ...[5, 30, 120, 300, 600, 240].map((minutes) => minutes * MINUTE)],
  jitter: 0.1, // of a delay
  giveUpMs: 24 * 60 * MINUTE,
  waiting: 10_000, // deliveries of one index
  kept: 1000, // that are over, in the log
  pruneEvery: 100, // events
  oldSecretMs: 24 * 60 * MINUTE,
  secrets: 3, // that sign at the same time
} as const;

/** Looking whether an index is as its records say, and making it so. */
export const CARE = {
  stuckMs: 30 * MINUTE, // longer than an ingest waits before it asks again
  strayMs: 24 * 60 * MINUTE, // so old is what no record will ever name
  atOnce: 4, // assets
  pageSegments: 2000, // of a page of a walk, after which it ends with an asset
  probes: 8, // segments whose neighbours are asked for, to find vectors of none
  stretch: { assets: 20, ms: 5 * MINUTE }, // of a repair that one message does
  left: 100, // of what couldn't be repaired, that a job tells
  perTick: 5, // indices whose traversal a tick of the cron begins: many that are due are spread over minutes
  againMs: 60 * MINUTE, // between two traversals that are begun by themselves
} as const;

/** Bringing in what platforms have (src/care/imports.ts). */
export const IMPORTS = {
  pages: 60, // of a listing: some hold nothing, and some never end
  unmet: 50, // originals that one look asks after, of those that a listing has no more
  defaultLimit: 50,
  mostListed: 500,
  mostFound: 100, // by a search
} as const;

export const ANSWER = {
  segments: 12,
  sentences: 3,
  leastScore: 0.05, // of a segment that a model is shown
  neighbours: 4, // segments in a row that are one source
  evidenceTokens: 4000,
  pictures: 6, // keyframes of the best sources
  /** A video's region is looked at in windows of so many sources, each a picture and its words. */
  window: { sources: 8, most: 6, atOnce: 2 },
  slackMs: 500, // players round a length up
  keptMs: 10 * MINUTE, // so long the same question of an unchanged index has the same answer
  toldShare: 0.8, // of a question's words that a sentence holds which is quoted
  nearlyAsGood: 0.9, // of the best sentence's share, for others beside it
} as const;
