import { z } from "zod";
import {
  type AccountId,
  type AnyId,
  type AssetId,
  type IndexId,
  type JobId,
  ours,
  type SourceId,
} from "../ids.ts";
import { INGEST_STEPS } from "../types.ts";

const idOf = <Of extends AnyId>() => z.string().transform((id) => ours<Of>(id));

/** Asks for one part of one step of an asset. Sent by the index's object only. */
export const ingestMessage = z.object({
  indexId: idOf<IndexId>(),
  assetId: idOf<AssetId>(),
  step: z.enum(INGEST_STEPS),
  part: z.int().nonnegative(),
});
export type IngestMessage = z.infer<typeof ingestMessage>;

/** Asks to deliver one event of an index to its webhook. Sent by the index's object only. */
export const webhookTask = z.object({ indexId: idOf<IndexId>(), seq: z.int().positive() });
export type WebhookTask = z.infer<typeof webhookTask>;

/** A clip that is a query, in seconds of it: deleted when its search is over. */
const storedClip = z.object({
  key: z.string(),
  region: z.object({ start: z.number(), end: z.number() }),
});
export type StoredClip = z.infer<typeof storedClip>;

/** Asks for work on an account's behalf that a request doesn't wait for. `jobId` names its record. */
export const jobMessage = z.object({
  kind: z.enum(["delete_index", "delete_asset", "search", "transcript", "import", "traverse"]),
  jobId: idOf<JobId>(),
  accountId: idOf<AccountId>(),
  indexId: idOf<IndexId>(),
  assetId: idOf<AssetId>().optional(),
  /** Of an import; `again`: nobody asked for it, the source is followed. */
  sourceId: idOf<SourceId>().optional(),
  again: z.boolean().optional(),
  /** Of a transcript. */
  language: z.string().nullable().optional(),
  /** Of a search. */
  request: z.unknown().optional(),
  /** Of a search by video. */
  clip: storedClip.optional(),
});
export type JobMessage = z.infer<typeof jobMessage>;
