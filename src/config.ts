const [KIB, MIB, GIB, SECOND, MINUTE] = [1024, 1024 ** 2, 1024 ** 3, 1000, 60_000];

/** Version of the API, in the OpenAPI document and in `GET /health`. */
export const VERSION = "0.1.0";

/** Limits of a request, a file or a fetch that are the same for every account. */
export const LIMITS = {
  uploadBytes: 5 * GIB,
  imageBytes: 20 * MIB, // the limit of the IMAGES binding
  imagePixels: 100_000_000, // the limit of the IMAGES binding
  imageSide: 12_000, // of the IMAGES binding; longer ones are for the decoder
  jsonBytes: 1 * MIB,
  jsonDepth: 32,
  issueCount: 1000, // validation issues reported for one part of a request
  metadataBytes: 64 * KIB, // per record: a page of a list holds many records
  fieldBytes: 1 * MIB, // per text field of a multipart form
  transcriptBytes: 8 * MIB, // most of JSON is times of words
  transcriptCharacters: 1 * MIB, // of what is said: 12 hours of speech have some 650,000
  transcriptCues: 150_000, // 12 hours of speech have some 130,000 words
  transcriptLines: 250_000,
  drainBytes: 100 * MIB, // discarded of a refused form: the largest body on most plans
  drainMs: 10 * SECOND, // for which a refused form is discarded, though its client still sends
  videoSeconds: 12 * 3600,
  redirectCount: 5,
  fetchMs: 10 * MINUTE, // for a whole download
  fetchIdleMs: 30 * SECOND, // between two chunks of a download
  responseMs: 20 * SECOND, // for the whole response of a platform's API
  responseBytes: 4 * MIB, // of a platform's API
  webPageBytes: 1 * MIB, // read of a web page to find a video's URL in it
  messageBytes: 127_000, // of a job: a queue takes 128,000 with the metadata that it adds
  queryCharacters: 2000,
  queryWords: 64, // distinct ones that are searched for in texts: each has some twenty forms
  topK: 500,
  answerTopK: 100,
  languageCharacters: 35, // BCP 47
  urlCharacters: 4096,
  uploadMetadataCharacters: 100_000, // base64 of `metadataBytes`, and the name of the file
  failureCharacters: 1000, // of a message, which may quote a server
  assetIdCount: 500,
  watchesPerIndex: 200,
  filterRuleCount: 16, // SQLite takes 100 parameters a statement
  archiveLineCount: 2000, // of one request: a Worker makes 10,000 calls
  archiveLineBytes: 16 * MIB, // of an asset: a video of 12 hours has less
  archiveLineValues: 1_000_000, // in the JSON of a line: a video of 12 hours has fewer
  archiveFileBytes: 4 * MIB, // of a fetched keyframe, and of the frames of a window
  shardBytes: 6 * GIB, // of a database, which may have 10 GB; the rest is for ingests in progress
  vectorsPerPair: 14_000_000, // of an index of a pair, which may have 20 M; the rest as above
  shardsPerPair: 200, // of 50,000 possible ones: docs/experiments/ingest.md#scale says why
  pageSize: 100,
} as const;

/** The platform's limits of what a deployment stores. `D1_BYTES` overrides the first one. */
export const CAPACITY = {
  databaseBytes: 10e9, // of D1
  objectBytes: 10e9, // of an index database
  vectorsPerIndex: 20_000_000, // since 2026-08-04
  namespacesPerIndex: 50_000,
  databaseWarningShare: 0.8, // at which the sweep warns
  databaseFullShare: 0.9, // at which ingests are refused
} as const;

/** Time limit of each check of `GET /health?deep=true`. */
export const HEALTH_CHECK_MS = 2 * SECOND;

/**
 * Limits of an account. Days are UTC. An account's row can override the ones that are counted
 * (src/store/d1/quotas.ts). `POST /init` and `GET /stats` return them, with the rate limits.
 */
export const ACCOUNT_LIMITS = {
  upload_bytes: LIMITS.uploadBytes,
  image_bytes: LIMITS.imageBytes,
  video_seconds: LIMITS.videoSeconds,
  stored_bytes: 1024 * GIB,
  concurrent_ingests: 2000, // one import may add 500 assets
  ingest_minutes_per_day: 6000,
  ingest_images_per_day: 50_000,
  searches_per_day: 100_000,
  answers_per_day: 1000,
  cost_usd_per_day: 200, // estimated by `PRICES`; what is stored isn't counted
  keys: 100, // neither revoked nor expired
  open_uploads: 200, // resumable uploads that haven't become assets
  indices: 1000,
  record_bytes: 1 * GIB, // of its rows in D1, which all accounts share
} as const;

/**
 * Prices of one operation in US dollars on the plan Workers Paid, without what it includes. Read on
 * 2026-11-23 on the page "Pricing" of each product. A Worker can't measure its CPU time.
 */
export const PRICES = {
  neurons: 0.011e-3, // Workers AI
  frames: 0.5e-3, // Media Transformations: free until the end of its beta
  convertedSeconds: 21e-6, // 0.74 s of processor, 0.37 s of a container: docs/costs.md
  images: 0.5e-3, // Images: a transformation; a repeated one is free in the same month
  dimensionsQueried: 0.01e-6, // Vectorize
  rowsRead: 0.001e-6, // D1 and objects
  rowsWritten: 1e-6,
  objectRequests: 0.15e-6, // Durable Objects
  bucketReads: 0.36e-6, // R2, class B
  bucketWrites: 4.5e-6, // R2, class A
  requests: 0.3e-6, // Workers: HTTP requests and messages
  queueOperations: 0.4e-6, // three a message
} as const;

/**
 * Prices of what is stored, in US dollars for 30 days; sources as above. `segment` is what
 * one takes on average, as `npm run bench -- capacity` measures it, without image vectors.
 */
export const STORAGE_PRICES = {
  bucketByte: 0.015e-9,
  databaseByte: 0.2e-9, // of an object
  dimension: 0.05e-8 + 0.01e-6, // Vectorize bills a stored dimension as queried once, too
  segment: { bucketBytes: 27_000, databaseBytes: 3200, dimensions: 1100 }, // docs/costs.md
} as const;

export const PART_BYTES = 8 * MIB; // of R2 multipart uploads: at least 5 MiB, one in memory

/** Resumable uploads (docs/uploads.md). */
export const UPLOADS = {
  idleMs: 24 * 60 * MINUTE, // from the last received byte until the upload expires
  maxAgeMs: 7 * 24 * 60 * MINUTE, // from its creation: R2 aborts multipart uploads after 7 days
  recoverAfterMs: MINUTE, // after the last byte: then the cron creates the asset
} as const;

export const MEDIA_URL_MS = 60 * MINUTE; // validity of a signed media URL
export const MEDIA_URL_CHARACTERS = 220; // of the longest, for origins of up to 45 characters
export const KEY_RECHECK_MS = 60 * SECOND; // for which a Worker caches that a key isn't revoked
export const KEY_USE_SAMPLE_MS = 60 * SECOND; // between two writes of a key's `last_used_at`

/** Requests with an `Idempotency-Key`, and their stored responses (src/http/idempotency.ts). */
export const IDEMPOTENCY = {
  retentionMs: 24 * 60 * MINUTE,
  leaseMs: 30 * SECOND,
  renewMs: 10 * SECOND,
} as const;

/** Steps of an ingest, their parts, and the leases of parts (src/ingest/state.ts). */
export const INGEST = {
  singleShotSegmentSeconds: 5, // segment length in a video without any cut
  partConcurrency: 8, // parts of one asset in the queue, so that long videos don't block others
  segmentsPerPart: 8, // segments described and embedded by one message
  frameConcurrency: 2, // keyframes extracted at once
  keyframeWidth: 960, // pixels
  /** Small objects with a vector of their own; area and margin as shares of keyframe and side. */
  regions: { maxCount: 3, minScore: 0.4, maxAreaShare: 0.25, margin: 0.5 },
  leaseMs: 60 * SECOND,
  renewMs: 20 * SECOND,
  redispatchMs: [0.5, 1, 2, 4, 8, 15].map((minutes) => minutes * MINUTE), // by dispatch number
  maxAttempts: 12, // of a part; more than the deliveries that the queue makes of one message
  maxCutOffs: 3, // of a part, by limits of the platform; a neighbour may be at fault once
} as const;

/** Background jobs (src/queues/jobs.ts). */
export const JOBS = {
  leaseMs: 30 * SECOND,
  renewMs: 10 * SECOND,
  redispatchMs: 1 * MINUTE, // until the first redispatch; the nth follows n times as long after
  maxDispatches: 8, // of a job that makes no progress
  cutOffDispatches: 3, // that one counts for which a limit of the platform cut off: three end it
  importAttempts: 3, // within 15 s: then the platform counts as unreachable
  retentionMs: 7 * 24 * 60 * MINUTE, // from its end: then its record is deleted
} as const;

/** Speech recognition: size of the audio chunk of one model call, and checks of its result. */
export const ASR = {
  maxChunkSeconds: 45,
  minChunkSeconds: 10,
  maxChunkBytes: 1_000_000,
  overlapSeconds: 2, // between neighbouring chunks
  // Segments beyond these bounds are hallucinated (defaults of Whisper's decoder):
  maxNoSpeechProb: 0.6,
  minAvgLogprob: -1,
  maxCompressionRatio: 2.4,
} as const;

/**
 * Model ids, named nowhere else. Every vector records its model. `neurons` are per million tokens,
 * [input, output], at prices of November 2026; those of `detect` at that of its maker ($0.30, $1).
 */
export const MODELS = {
  embedText: {
    id: "@cf/baai/bge-m3",
    dimensions: 1024,
    batchSize: 96,
    maxCharacters: 2000,
    timeoutMs: 30_000,
    neurons: [1075, 0],
  },
  describe: {
    id: "@cf/google/gemma-4-26b-a4b-it",
    maxTokens: 2000,
    maxItems: { labels: 8, boxes: 5 }, // of a description
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
  embedImage: { id: "@cf/qwen/qwen3-vl-embedding-2b", dimensions: 1024 }, // if it is configured
} as const;

/** Calls to the image embedding model, which the deployment configures: docs/models.md. */
export const IMAGE_EMBEDDINGS = { batchSize: 8, timeoutMs: 30_000 } as const;

/** Retrieval (src/search/search.ts). */
export const SEARCH = {
  defaultTopK: 30,
  maxCandidates: 100, // per channel: the largest `topK` that Vectorize takes
  deepeningFactor: 5, // how many times more candidates are read if the first don't fill a page
  regionPenalty: 0.03, // subtracted from a region's cosine, to rank it behind an equal whole image
  cachedQueryCount: 500, // queries whose vectors an isolate caches: about 4 MB per vector index
  clipFrames: { intervalSeconds: 2, minCount: 2, maxCount: 8 }, // frames embedded of a query clip
  clipSpeechSeconds: 45, // of a query clip that are transcribed
} as const;

/** Boxes and masks of the query's phrase, in a page's first hits (src/search/localization.ts). */
export const LOCALIZATION = {
  detectionCount: 10, // detection model calls
  minScoreShare: 0.2, // of the best hit's score, for a hit to be sent to the detection model
  maskCount: 10, // hits that get a mask
  concurrency: 5, // a Worker has six connections
  timeoutMs: 15 * SECOND,
  maxMaskSide: 480, // pixels
  boxMargin: 0.1, // around a box, as a share of its longer side
  minMaskShare: 0.01, // of a crop's pixels; masks with less foreground or background are dropped
} as const;

/** Server-sent events of an index's assets (docs/events.md). */
export const EVENTS = {
  retainedCount: 1000, // for subscribers that reconnect
  maxSubscribers: 50, // per index
  maxUnreadBytes: 64 * KIB, // buffered for a slow subscriber, beside the events that it missed
  heartbeatMs: 20 * SECOND,
  streamMs: 1 * MINUTE, // until a subscriber has to reconnect, which checks its key again
  retryMs: SECOND,
} as const;

/** Delivery of events to a URL (src/durable/webhook.ts). */
export const WEBHOOKS = {
  timeoutMs: 15 * SECOND,
  leaseMs: MINUTE, // of an attempt
  redispatchMs: MINUTE, // until an unclaimed delivery is sent to the queue again
  retryMs: [5 * SECOND, ...[5, 30, 120, 300, 600, 240].map((minutes) => minutes * MINUTE)],
  jitter: 0.1, // as a share of the delay
  maxAgeMs: 24 * 60 * MINUTE, // from the event until its delivery fails
  maxPending: 10_000, // deliveries of one index
  retainedCount: 1000, // finished deliveries in the log
  pruneEveryEvents: 100,
  rotatedSecretMs: 24 * 60 * MINUTE, // for which a replaced secret still signs
  maxSecrets: 3, // that sign at the same time
} as const;

/** Inspection and repair of an index (src/lifecycle/). */
export const LIFECYCLE = {
  stuckAfterMs: 30 * MINUTE, // without progress; more than the longest redispatch delay
  minOrphanAgeMs: 24 * 60 * MINUTE, // of an unreferenced object: no record will ever refer to it
  concurrency: 4, // assets inspected at once
  maxPageSegments: 2000, // of a page of a traversal, which ends with the asset that reaches them
  slice: { maxAssets: 20, maxMs: 5 * MINUTE, maxQueries: 600, maxSubrequests: 5000 }, // a message
  maxFetchBatches: 60, // of files in a slice of an import: fetches aren't counted
  maxExported: 400, // assets in one response: a Worker makes 1,000 queries of D1
  maxLineTries: 5, // at an asset of an archive that fails unexpectedly
  maxUnrepaired: 100, // unrepaired findings that a job reports
  traversalsPerTick: 5, // started by one run of the cron: many due indices are spread over minutes
  minIntervalMs: 60 * MINUTE, // between two scheduled traversals of an index
} as const;

/** Imports from platforms (src/lifecycle/sync-sources.ts). */
export const IMPORTS = {
  maxPages: 60, // of a listing: some pages are empty, and some listings never end
  defaultLimit: 50,
  maxListedItems: 500,
  maxFoundItems: 100, // of a search on the platform
} as const;

/** Generated answers (src/answer/). */
export const ANSWER = {
  defaultTopK: 12,
  minScore: 0.02, // of a moment that the model gets, or that is shown as related
  maxRelated: 5, // closest moments beside an answer that isn't grounded
  maxCharacters: 6000, // of a model's text; the rest is dropped
  maxNeighbours: 4, // consecutive segments that are merged into one source
  evidenceTokens: 4000,
  maxImages: 6, // keyframes of the best sources
  /** Windows of a video's time range: sources (a keyframe and its text) per window, windows. */
  window: { maxSources: 8, maxCount: 6, concurrency: 2 },
  toleranceMs: 500, // by which a time range may exceed the video: players round up
} as const;
