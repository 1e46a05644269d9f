import type { ErrorCode, Failure } from "./errors.ts";
import type { AccountId, AssetId, IndexId, JobId, SegmentId } from "./ids.ts";
import type { VerifiedKey } from "./keys.ts";

export const ASSET_TYPES = ["video", "image"] as const;
export type AssetType = (typeof ASSET_TYPES)[number];

/** What an asset is for a search: `audio` is a video without pictures. */
export const ASSET_KINDS = ["video", "image", "audio"] as const;
export type AssetKind = (typeof ASSET_KINDS)[number];

/**
 * Steps of an ingest, in order. `PUBLIC_STATE` in src/ingest/state.ts maps them to asset states.
 */
export const INGEST_STEPS = [
  "fetch",
  "plan_conversion",
  "convert",
  "merge_parts",
  "probe",
  "detect_shots",
  "segment",
  "recognize_speech",
  "align_transcript",
  "describe",
  "index_frames",
  "embed",
  "finish",
] as const;
export type Step = (typeof INGEST_STEPS)[number];

export const ASSET_STATES = [
  "queued",
  "fetching",
  "probing",
  "segmenting",
  "transcribing",
  "describing",
  "embedding",
  "ready",
  "failed",
] as const;
export type AssetState = (typeof ASSET_STATES)[number];

/** Types of an index's events (docs/events.md). */
export const EVENT_TYPES = [
  "asset.updated",
  "asset.progress",
  "asset.ready",
  "asset.failed",
  "asset.deleted",
  "watch.matched",
  "webhook.test",
] as const;
export type EventType = (typeof EVENT_TYPES)[number];
/** What a webhook gets that names no types. */
export const WEBHOOK_EVENTS: readonly EventType[] = [
  "asset.ready",
  "asset.failed",
  "asset.deleted",
  "watch.matched",
];

/** Delivery of an event to an index's webhook. Times are epoch ms. */
export interface Delivery {
  /** Sequence number of the event. */
  seq: number;
  type: EventType;
  /** Body of the request, JSON. */
  payload: string;
  /** Where it is sent; null: to the webhook of the index. */
  url: string | null;
  phase: "scheduled" | "queued" | "sending" | "delivered" | "failed";
  attempts: number;
  /** The consumer that makes the attempt; null before the first. */
  consumer: string | null;
  createdAt: number;
  /** Time of the next phase change or retry; null if the delivery has ended. */
  dueAt: number | null;
  endedAt: number | null;
  /** HTTP status of the last attempt. */
  statusCode: number | null;
  error: string | null;
}

/** Signing secret of a webhook. `expiresAt` is null for the newest one. Times are epoch ms. */
export interface WebhookSecret {
  secret: string;
  createdAt: number;
  expiresAt: number | null;
}

/** Webhook of an index, and the state of its deliveries. */
export interface WebhookState {
  url: string;
  /**
   * Time of a 410 from the receiver, epoch ms, which stops deliveries until the URL is set again.
   */
  disabledAt: number | null;
  /** Newest first. All of them sign. */
  secrets: WebhookSecret[];
  counts: Record<"pending" | "delivered" | "failed", number>;
}

/** Caller of a request: the account of a verified key. */
export interface Caller extends VerifiedKey {
  /** Whether this request created the account. */
  isNew: boolean;
}

/** A media index. Times are epoch ms. */
export interface MediaIndexRow {
  indexId: IndexId;
  accountId: AccountId;
  name: string;
  description: string;
  metadata: JsonObject;
  settings: JsonObject;
  createdAt: number;
  updatedAt: number;
  lastTraversedAt: number | null;
  /** New assets go to the last one. */
  shards: Shard[];
}

/** A part of an index, with a database of its own. */
export interface Shard {
  /** Its number in the index, from 0. */
  shard: number;
  /** Number of its pair of Vectorize indexes: `store/vectorize/vector-pairs.ts`. */
  vectorPair: number;
}

/** The index that stored content belongs to. */
export type IndexRef = Pick<MediaIndexRow, "accountId" | "indexId" | "shards">;
/** The same, with the name that records show. */
export type NamedIndexRef = IndexRef & Pick<MediaIndexRow, "name">;

/** What names an asset, and its objects in R2. */
export type AssetRef = Pick<Asset, "accountId" | "indexId" | "assetId">;
/** What names an asset's content in every store. */
export type ContentRef = AssetRef & Shard;

/** Where an asset came from. Its URL is complete until the asset is ready: `publicSource`. */
export interface AssetSource {
  kind: "upload" | "url" | "videonet" | "photonet";
  url?: string;
  platform?: string;
  platform_id?: string;
  author?: string | null;
  licence?: string | null;
  /** RFC 3339. */
  published_at?: string | null;
  description?: string | null;
  alt_text?: string | null;
}

/** A video or an image in an index. `…At` are epoch ms, `…Ms` are milliseconds of media. */
export interface Asset extends Shard {
  assetId: AssetId;
  indexId: IndexId;
  accountId: AccountId;
  indexName: string;
  assetType: AssetType;
  title: string;
  state: AssetState;
  progress: number;
  error: Failure | null;
  warnings: Failure[];
  source: AssetSource;
  contentType: string | null;
  sizeBytes: number;
  sha256: string | null;
  width: number | null;
  height: number | null;
  durationMs: number;
  fps: number | null;
  hasAudio: boolean | null;
  language: string | null;
  technical: JsonObject;
  metadata: JsonObject;
  keyframeMs: number | null;
  segments: number;
  jobId: JobId;
  /** The job that uploaded a video's transcript; null if the ingest made it. */
  transcriptJobId: JobId | null;
  /** Number of the transcript: 0 for the ingest's, then 1 more for each that replaced it. */
  transcriptRevision: number;
  createdAt: number;
  updatedAt: number;
}

/** Box around an object, in fractions of the image. The origin is the top left. */
export interface BoundingBox {
  label: string;
  score: number;
  x: number;
  y: number;
  width: number;
  height: number;
}

/** Rectangle in fractions of an image. The origin is the top left. */
export type Rect = Pick<BoundingBox, "x" | "y" | "width" | "height">;

/**
 * Mask of an object's pixels in the compressed run-length encoding of COCO's API: `size` is height
 * and width, `counts` are run lengths, column by column.
 */
export interface Mask {
  size: [height: number, width: number];
  counts: string;
}

/** `captionModel` of a template caption: detected labels in a sentence, written by no model. */
export const TEMPLATE = "template";

/** Kinds of evidence: the image, what is said, text in the image, the caption. */
export const EVIDENCE_KINDS = [
  "visual",
  "speech",
  "text",
  "caption",
  "title",
  "description",
] as const;
export type EvidenceKind = (typeof EVIDENCE_KINDS)[number];

/** The unit of search: a time range of a video, or an image. Media times are ms. */
export interface Segment {
  segmentId: SegmentId;
  assetId: AssetId;
  indexId: IndexId;
  position: number;
  startMs: number | null;
  endMs: number | null;
  /** `NO_KEYFRAME_MS` for sound. */
  keyframeMs: number;
  caption: string;
  /** Id of the model that wrote the caption, or `template`; null before there is one. */
  captionModel: string | null;
  transcript: string;
  /** The last sentence of the segment before: over, or continued by the transcript. */
  speechBefore: string;
  /** The end of its last sentence, if that is in the segment after; else empty. */
  speechAfter: string;
  onScreenText: string;
  /** Language of the asset's speech and on-screen text; null if unknown. */
  language: string | null;
  labels: string[];
  boxes: BoundingBox[];
  error: Failure | null;
  described: boolean;
  /**
   * Whether its keyframe is stored, described or not. True until extracting it fails; false for
   * sound.
   */
  hasKeyframe: boolean;
}

/** Description of an image by a model. */
export interface Description {
  /** Id of the model, as reported by it. */
  model: string;
  caption: string;
  text: string;
  labels: string[];
  boxes: BoundingBox[];
}

/** Transition between two shots. Times are presentation times in seconds. */
export interface Transition {
  kind: "cut" | "gradual";
  /** Last frame of the shot before. */
  from: number;
  /** First frame of the shot after. */
  to: number;
}

/** Stored summary of a sampled frame. */
export interface FrameSummary {
  /** Presentation time. */
  seconds: number;
  /** Sharpness, comparable within a shot. */
  sharpness: number;
  /** `COPY_DETECTION.thumbnailSide`² luma values, rows from the top, in base64. */
  lumaThumbnail: string;
}

/** Cue of a transcript. Times are seconds, and NaN until a plain text has been assigned times. */
export interface Cue {
  start: number;
  end: number;
  text: string;
}

/** Texts of a segment that are embedded; `text` is the on-screen text. */
export const TEXT_KINDS = ["caption", "speech", "text"] as const;
export type TextKind = (typeof TEXT_KINDS)[number];

/** Images of a segment that are embedded: its keyframe, and regions with small objects. */
export const IMAGE_VECTOR_KINDS = ["image", "region"] as const;
export type VectorKind = TextKind | (typeof IMAGE_VECTOR_KINDS)[number];

export type JobState = "queued" | "running" | "succeeded" | "failed" | "cancelled";

export interface Job {
  jobId: JobId;
  indexId: IndexId | null;
  /** Null once the index is deleted. */
  indexName: string | null;
  /** Null if the job is about no single asset. */
  assetId: AssetId | null;
  /** Null once the asset is deleted. */
  assetTitle: string | null;
  kind: string;
  state: JobState;
  progress: number;
  result: unknown;
  error: { code: ErrorCode; message: string } | null;
  createdAt: number;
  updatedAt: number;
}

export type JsonObject = Record<string, unknown>;

/** Sums over the assets of an index with one type and state. */
export interface Tally {
  indexId: IndexId;
  assetType: AssetType;
  state: AssetState;
  assets: number;
  segments: number;
  durationMs: number;
  sizeBytes: number;
}

/** A field of a filter that no asset has; or only with values of another type, which it names. */
export interface UnmatchedField {
  field: string;
  type: string | null;
}
