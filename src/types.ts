import type { ErrorCode, Failure } from "./errors.ts";
import type { AccountId, AssetId, IndexId, JobId, SegmentId } from "./ids.ts";
import type { VerifiedKey } from "./keys.ts";

export const ASSET_TYPES = ["video", "image"] as const;
export type AssetType = (typeof ASSET_TYPES)[number];

/**
 * What happens to an asset, in order. `look` shows as `segmenting`, `listen` as `transcribing`, `watch` as
 * `describing`, `finish` as `embedding`.
 */
export const INGEST_STEPS = [
  "fetch",
  "probe",
  "look",
  "segment",
  "listen",
  "transcribe",
  "describe",
  "watch",
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

/** What an index tells of (docs/events.md). All but `asset.progress` also go to its webhook. */
export const EVENT_TYPES = [
  "asset.updated",
  "asset.progress",
  "asset.deleted",
  "webhook.test",
] as const;
export type EventType = (typeof EVENT_TYPES)[number];

/** One event on its way to an index's webhook. Epoch ms. */
export interface Delivery {
  /** Of the event. */
  seq: number;
  type: EventType;
  /** The body. */
  payload: string;
  phase: "waiting" | "asked" | "sending" | "delivered" | "failed";
  attempts: number;
  createdAt: number;
  /** When it is looked at again; null once it is over. */
  dueAt: number | null;
  endedAt: number | null;
  /** Of the last attempt. */
  status: number | null;
  problem: string | null;
}

/** What webhooks are signed with. `expiresAt` is null while it is the newest. Epoch ms. */
export interface WebhookSecret {
  secret: string;
  createdAt: number;
  expiresAt: number | null;
}

/** Where an index's events are sent, and how that goes. */
export interface WebhookState {
  url: string;
  /** When its receiver said that it is gone (410): epoch ms. Setting the URL again ends that. */
  disabledAt: number | null;
  /** The newest first; all of them sign. */
  secrets: WebhookSecret[];
  counts: Record<"waiting" | "delivered" | "failed", number>;
}

/** Who is asking: the account behind a verified key. */
export interface Caller extends VerifiedKey {
  /** This request made the account. */
  isNew: boolean;
}

/** A media index as its owner named it. Times are epoch ms. */
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
  /** Grows with every change of what can be found. */
  revision: number;
}

interface AssetSource {
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

/** A video or an image of an index. Times are epoch ms, media times milliseconds. */
export interface Asset {
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
  /** The job that put a video's transcript in; null where its ingest did. */
  transcriptJob: JobId | null;
  createdAt: number;
  updatedAt: number;
}

/** A box in fractions of the frame, origin top left. */
export interface Box {
  label: string;
  score: number;
  x: number;
  y: number;
  width: number;
  height: number;
}

/** Where something is in a frame, as a box is. */
export type Place = Pick<Box, "x" | "y" | "width" | "height">;

/**
 * Which pixels of a picture belong to something, as COCO's API has it: `size` is height and width,
 * `counts` compressed run lengths, column by column.
 */
export interface Mask {
  size: [height: number, width: number];
  counts: string;
}

/** A stretch of a video, or an image: what search returns. Media times in ms. */
export interface Segment {
  segmentId: SegmentId;
  assetId: AssetId;
  indexId: IndexId;
  position: number;
  startMs: number | null;
  endMs: number | null;
  keyframeMs: number;
  caption: string;
  /** The model that wrote the caption, as it calls itself; null before it has. */
  captionModel: string | null;
  transcript: string;
  onScreenText: string;
  labels: string[];
  boxes: Box[];
  problem: Failure | null;
  described: boolean;
}

/** What a model saw in a picture. */
export interface Description {
  /** The model that looked, as it calls itself. */
  model: string;
  caption: string;
  text: string;
  labels: string[];
  boxes: Box[];
}

/** Where one shot gives way to the next. Times are when pictures begin to be shown, in seconds. */
export interface Transition {
  kind: "cut" | "gradual";
  /** The last picture of the shot before. */
  from: number;
  /** The first picture of the shot after. */
  to: number;
}

/** A picture of a video at a regular time, small. */
export interface SmallStill {
  /** When it begins to be shown. */
  seconds: number;
  /** How sharp it is, to be compared within a shot. */
  sharpness: number;
  /** Grey levels, `FOOTAGE.thumbnailSide` each way, rows from the top, in base64. */
  thumbnail: string;
}

/** Words spoken over a stretch of a video, in seconds: NaN until a plain text has been given its times. */
export interface Cue {
  start: number;
  end: number;
  text: string;
}

/** Which words of a segment a vector or an FTS column stands for. */
export const TEXT_KINDS = ["caption", "speech", "text"] as const;
export type TextKind = (typeof TEXT_KINDS)[number];

/**
 * What a vector stands for: words of a segment, in the text space, or, in the other, its picture, or a
 * region of it with something small.
 */
export const PICTURE_KINDS = ["picture", "region"] as const;
export type VectorKind = TextKind | (typeof PICTURE_KINDS)[number];

export type JobState = "queued" | "running" | "succeeded" | "failed" | "cancelled";

export interface Job {
  jobId: JobId;
  indexId: IndexId | null;
  kind: string;
  state: JobState;
  progress: number;
  result: unknown;
  error: { code: ErrorCode; message: string } | null;
  createdAt: number;
  updatedAt: number;
}

export type JsonObject = Record<string, unknown>;
