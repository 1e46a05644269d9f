import type { Context as HonoContext } from "hono";
import type { Caller } from "../types.ts";

/** Bindings and per-request variables of every handler. */
export interface AppEnv {
  Bindings: Env;
  /** `caller` is set once the API key is authenticated. */
  Variables: { requestId: string; caller: Caller };
}

export type Context = HonoContext<AppEnv>;
