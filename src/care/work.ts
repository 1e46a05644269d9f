import type { JobId } from "../ids.ts";
import type { Asset } from "../types.ts";

/** What a repair works on. */
export interface Work {
  env: Env;
  asset: Asset;
  /** The job that repairs. */
  jobId: JobId;
  /** To be called between small pieces of work. Throws `Paused` where it is to go on later, or not at all. */
  pause: () => Promise<void>;
}

/**
 * Makes good what findings are about. May run twice, or again from anywhere in the middle. Resolves to what
 * of it is lost all the same, null where nothing is; throws where it can't be repaired.
 */
export type Fix = (work: Work, about: string[]) => Promise<string | null>;

/** Thrown to end a stretch of work: it is done as far as it is. */
export class Paused extends Error {}

/** Works on items a few at a time, with pauses. */
export async function inPieces<Item>(
  items: Item[],
  size: number,
  pause: Work["pause"],
  work: (few: Item[]) => Promise<void>,
): Promise<void> {
  for (let i = 0; i < items.length; i += size) {
    await pause();
    await work(items.slice(i, i + size));
  }
}
