import type { JobId } from "../ids.ts";
import type { Asset } from "../types.ts";
import type { Checkpoint } from "./slice.ts";

export interface RepairContext {
  env: Env;
  asset: Asset;
  /** The job that repairs. */
  jobId: JobId;
  checkpoint: Checkpoint;
}

/**
 * Resolves findings; `about` holds their ids or keys. May run twice, or again after stopping
 * anywhere. Resolves to null, or to a sentence that names data that can't be restored. Throws if
 * nothing can be repaired.
 */
export type Repair = (context: RepairContext, about: string[]) => Promise<string | null>;
