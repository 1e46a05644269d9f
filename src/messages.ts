import * as z from "zod";
import { ERRORS, type ErrorCode } from "./errors.ts";
import {
  type AccountId,
  type AnyId,
  type AssetId,
  type IndexId,
  type JobId,
  trustedId,
  type SourceId,
  type WatchId,
} from "./ids.ts";
import { INGEST_STEPS } from "./types.ts";

const codes = Object.keys(ERRORS) as [ErrorCode, ...ErrorCode[]];
const failure = z.object({ code: z.enum(codes), message: z.string() });

const id = <Id extends AnyId>() => z.string().transform((value) => trustedId<Id>(value));

/**
 * Names one part of one ingest step of an asset. Only the index's `MediaIndex` object sends these.
 */
export const ingestMessage = z.object({
  indexId: id<IndexId>(),
  assetId: id<AssetId>(),
  step: z.enum(INGEST_STEPS),
  part: z.int().nonnegative(),
});
export type IngestMessage = z.infer<typeof ingestMessage>;

/**
 * Names one event to deliver to the webhook of its index. Only the index's `MediaIndex` object
 * sends these.
 */
export const deliveryMessage = z.object({ indexId: id<IndexId>(), seq: z.int().positive() });
export type DeliveryMessage = z.infer<typeof deliveryMessage>;

/**
 * The clip of a search by video: its object key and its time range in seconds. The object is
 * deleted when the search has ended.
 */
const queryClip = z.object({
  key: z.string(),
  range: z.object({ start: z.number(), end: z.number() }),
});
export type QueryClip = z.infer<typeof queryClip>;

/** Fields of every job. `jobId` names the job's record, `accountId` who is metered for the work. */
const job = { jobId: id<JobId>(), accountId: id<AccountId>(), indexId: id<IndexId>() };

/** Work of an account that no request waits for (src/queues/jobs.ts). */
export const jobMessage = z.discriminatedUnion("kind", [
  z.object({
    kind: z.literal("delete_asset"),
    ...job,
    assetId: id<AssetId>(),
    shard: z.int(),
    vectorPair: z.int(),
  }),
  z.object({ kind: z.literal("delete_index"), ...job }),
  z.object({
    kind: z.literal("search"),
    ...job,
    indexName: z.string(),
    /** A `SearchRequest`. The runner parses the request: its schema is in a higher layer. */
    request: z.record(z.string(), z.unknown()),
    /** Null in a search without a clip. */
    clip: queryClip.nullable(),
  }),
  z.object({
    kind: z.literal("transcript"),
    ...job,
    assetId: id<AssetId>(),
    /** BCP 47. Null if neither the transcript nor the video names a language. */
    language: z.string().nullable(),
    /** What could not be read in the transcript. */
    warnings: z.array(failure).default([]),
  }),
  z.object({
    kind: z.literal("import"),
    ...job,
    sourceId: id<SourceId>(),
    /** `schedule`: a followed source is synced without a request. */
    trigger: z.enum(["request", "schedule"]),
  }),
  z.object({ kind: z.literal("traverse"), ...job }),
  /** Imports the assets of an archive, whose lines are stored under the job's id. */
  z.object({
    kind: z.literal("import_archive"),
    ...job,
    indexName: z.string(),
    lineCount: z.int(),
    /** Whether the archive had its last line. */
    isComplete: z.boolean(),
  }),
  /** Makes a copy of a video that browsers play. */
  z.object({ kind: z.literal("playback_copy"), ...job, assetId: id<AssetId>() }),
  /** Searches a new asset for what its index watches. */
  z.object({ kind: z.literal("match_watches"), ...job, assetId: id<AssetId>() }),
  /** Finds what a watch would have announced. */
  z.object({
    kind: z.literal("preview_watch"),
    ...job,
    indexName: z.string(),
    /** The `SearchRequest` of what is watched for. */
    request: z.record(z.string(), z.unknown()),
    minProbability: z.number(),
    /** The stored watch, which may have an image; null for one that isn't stored. */
    watchId: id<WatchId>().nullable(),
  }),
  /** Repairs what a traversal would find of one asset. */
  z.object({ kind: z.literal("repair"), ...job, assetId: id<AssetId>() }),
]);
export type JobMessage = z.infer<typeof jobMessage>;
export type JobKind = JobMessage["kind"];
/** The variant of one kind. */
export type JobMessageOf<Kind extends JobKind> = Extract<JobMessage, { kind: Kind }>;
