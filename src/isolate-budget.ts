import { SharedBudget } from "./shared-budget.ts";

/** For parts of ingests and lines of archives. An isolate has 128 MB for everything. */
const BUDGET_BYTES = 48 * 1024 * 1024;
/** Longest time that the queue lets a message run. */
const MAX_HOLD_MS = 900_000;

const budget = new SharedBudget(BUDGET_BYTES, MAX_HOLD_MS);

/**
 * Runs work within the memory that all such work in this isolate shares, and waits for it before.
 * Work that holds some must not ask for more: clips have a budget of their own (`withClipMemory`).
 */
export function withIsolateMemory<T>(bytes: number, work: () => Promise<T>): Promise<T> {
  return budget.run(bytes, work);
}

/** Bytes of a line up to which it takes no turn: most lines have less. */
const SMALL_LINE_BYTES = 1024 * 1024;
/** Copies of a line of an archive in memory: bytes, text and values. */
const LINE_COPIES = 3;

/** Runs work on a line of an archive within this memory. */
export function withLineMemory<T>(lineBytes: number, work: () => Promise<T>): Promise<T> {
  if (lineBytes <= SMALL_LINE_BYTES) return work();
  return withIsolateMemory(LINE_COPIES * lineBytes, work);
}
