import { parseSecrets, type Secrets } from "./keys.ts";

const KIB = 1024;
const MIB = 1024 * KIB;
const GIB = 1024 * MIB;
const SECOND = 1000;
const MINUTE = 60 * SECOND;

export const LIMITS = {
  uploadBytes: 5 * GIB,
  imageBytes: 20 * MIB, // what the IMAGES binding accepts
  jsonBytes: 1 * MIB,
  fieldBytes: 1 * MIB,
  transcriptBytes: 8 * MIB,
  videoSeconds: 12 * 3600,
  redirects: 5,
  fetchMs: 10 * MINUTE,
  fetchIdleMs: 30 * SECOND,
  queryCharacters: 2000,
  topK: 500,
  assetIds: 500,
  filterRules: 16, // a statement of D1 takes 100 parameters
  pageSize: 100,
} as const;

/** Shown by `POST /init` and `GET /stats`. */
export const ACCOUNT_LIMITS = {
  upload_bytes: LIMITS.uploadBytes,
  image_bytes: LIMITS.imageBytes,
  video_seconds: LIMITS.videoSeconds,
  requests_per_minute: 600,
  answers_per_day: 1000,
} as const;

/** R2 multipart parts: equal but the last, at least 5 MiB. It is also what an upload holds in memory. */
export const PART_BYTES = 8 * MIB;

export const MEDIA_URL_MS = 60 * MINUTE;
export const KEY_RECHECK_MS = 60 * SECOND;

export const INGEST = {
  segmentSeconds: 5,
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
 * Model ids are named here and nowhere else; a vector records the one that made it. Neurons are per
 * million tokens (input, output) or per minute of sound, from the platform's price list of November
 * 2026; those of `detect` from its maker's ($0.30 and $1).
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
  mostSeconds: 20, // what is longer is cut evenly, into pieces of:
  pieceSeconds: 10,
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

/** Looking whether an index is as its records say. */
export const CARE = {
  stuckMs: 30 * MINUTE, // longer than an ingest waits before it asks again
  atOnce: 4, // assets
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

const secretsByText = new Map<string, Secrets>();

/** The signing secrets, parsed once. Throws with the command to run where they are not set. */
export function keySecrets(env: { KEY_SECRETS?: string }): Secrets {
  const text = env.KEY_SECRETS;
  if (!text) throw new Error("KEY_SECRETS is not set: run `npx wrangler secret put KEY_SECRETS`");
  let secrets = secretsByText.get(text);
  if (!secrets) secretsByText.set(text, (secrets = parseSecrets(text)));
  return secrets;
}
