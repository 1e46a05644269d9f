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
 * 2026.
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
  rankConstant: 60, // k of reciprocal-rank fusion
  maxCandidates: 100, // Vectorize's topK
  keptQueries: 500, // whose vectors an isolate keeps, about 4 MB a space
  clipFrames: { everySeconds: 2, least: 2, most: 8 }, // of a clip that is a query
  clipSpeechSeconds: 45,
  clipSlackSeconds: 0.5, // players round a clip's length up
  sameWeight: 3, // of the very same picture: more than all that only looks or sounds alike
  /** How much each channel counts, with a picture space and without. docs/benchmarks.md has the losers. */
  weights: {
    joint: { word: 1, meaning: 0.5, looks: 0.5 },
    textOnly: { word: 1, meaning: 1, looks: 0 },
  },
} as const;

/** How a picture is found again (src/media/signature.ts). */
export const SIGNATURE = {
  side: 96, // pixels each way that a signature is made of
  thumbnailSide: 24,
  maxMatches: 20_000, // rows read for one query
  candidates: 128, // pictures compared for one query
  same: 0.93, // similarity from which two are the same picture, edited
} as const;

export const ANSWER = {
  segments: 12,
  sentences: 3,
  relevantCosine: 0.6, // of question and evidence, below which a passage alone proves nothing
  relevantCoverage: 0.5, // share of the question's words that a passage must hold otherwise
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
