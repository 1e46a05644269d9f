import type { Context as HonoContext } from "hono";
import type { IndexId } from "../ids.ts";
import { ignoreUntilAwaited } from "../ignored-errors.ts";
import type { Caller } from "../types.ts";

/** Bindings and per-request variables of every handler. */
export interface AppEnv {
  Bindings: Env;
  Variables: {
    requestId: string;
    /** Set once the API key is authenticated. */
    caller: Caller;
    /** Index of the path, once it is found. */
    indexId?: IndexId;
    /** Whether the cursor of the request is one of an index. Set if there is one. */
    isCursorOf?: (indexId: IndexId) => boolean;
  };
}

export type Context = HonoContext<AppEnv>;

/**
 * Lets `work` finish after the client disconnects, for up to 30 s (Workers' `waitUntil`), so that
 * received bytes are stored or a started write is undone.
 */
export function withWaitUntil<T>(c: Context, work: Promise<T>): Promise<T> {
  c.executionCtx.waitUntil(work.catch(ignoreUntilAwaited));
  return work;
}
