import type { JobMessage } from "./messages.ts";

/** Tells how far a job is, from 0 to 1, and what it has so far; false where it was cancelled, and is to stop. */
export type Progressed = (progress: number, result?: unknown) => Promise<boolean>;

/** What a job answers that has more to do: it is brought again, before long. */
export const AGAIN = Symbol("again");

/** Does a job, or a stretch of it; resolves to its result. */
export type Run = (env: Env, job: JobMessage, progressed: Progressed) => Promise<unknown>;
