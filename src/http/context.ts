import type { Context as HonoContext } from "hono";
import { MEDIA_URL_CHARACTERS, MEDIA_URL_MS } from "../config.ts";
import type { AccountId, IndexId } from "../ids.ts";
import { ignoreUntilAwaited } from "../ignored-errors.ts";
import { remember } from "../isolate-memory.ts";
import { LruCache } from "../lru-cache.ts";
import { costGate, meterEnv, type UsageMeter, usageMeter } from "../metering/meter-env.ts";
import { keySecrets, signMediaKey } from "../signed-token.ts";
import { requireQuota } from "../store/d1/quotas.ts";
import type { Caller } from "../types.ts";
import { shortFileName } from "./content-disposition.ts";

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

/**
 * Has the request's bindings count what they do for an account from now on. Its model calls are
 * cancelled when the client goes away.
 */
export function meterRequest(c: Context, accountId: AccountId): void {
  const meter = usageMeter(accountId);
  meter.count("requests", 1);
  c.env = meterEnv(c.env, accountId, { priority: "interactive", signal: c.req.raw.signal });
  flushLater(c, meter);
}

/** Records what this isolate has counted of the caller's usage, before it is read. */
export async function recordUsage(c: Context): Promise<void> {
  await usageMeter(c.get("caller").accountId).flush(c.env.DB);
}

/** Counts searches or answers of the caller. */
export function countWork(c: Context, name: "searches" | "answers", count = 1): void {
  const meter = usageMeter(c.get("caller").accountId);
  meter.count(name, count);
  flushLater(c, meter);
}

/** Admits billed calls of the request. Throws `cost_limit_reached`. */
export async function requireCostQuota(c: Context): Promise<void> {
  const { accountId } = c.get("caller");
  await costGate(c.env).admit(requireQuota(c.env.DB, accountId, { cost_usd_per_day: 0 }));
}

/** Lets the requests of some seconds share a write: it costs as much as many requests. */
function flushLater(c: Context, meter: UsageMeter): void {
  const delayMs = Number(c.env.USAGE_WRITE_SECONDS) * 1000;
  c.executionCtx.waitUntil(meter.flushLater(c.env.DB, delayMs));
}

/**
 * Signs a URL for a stored object. The URL works without an API key for `MEDIA_URL_MS`, less up to
 * a minute. It ends in the file's name, shortened to `MEDIA_URL_CHARACTERS` of the URL.
 */
export type MediaUrlSigner = (objectKey: string, name: string) => Promise<string>;

/** URLs of one object are the same within this time, so that a browser finds its cached copy. */
const STABLE_MS = 60_000;

/** Characters of a URL that are left for the time range of a clip: `#t=12345.678,12349.123`. */
const FRAGMENT_CHARACTERS = 22;
/** Characters that a file's name has at least, if the host's name is long. */
const MIN_NAME_CHARACTERS = 16;

/** Recent tokens of this isolate: searches repeat while someone types, and on every page. */
const tokens = remember(new LruCache<string>(10_000));

export function createMediaUrlSigner(c: Context): MediaUrlSigner {
  const secrets = keySecrets(c.env);
  const { origin } = new URL(c.req.url);
  const expiresAt = Math.floor(Date.now() / STABLE_MS) * STABLE_MS + MEDIA_URL_MS;
  return async (objectKey, name) => {
    const token = await tokens.get(`${expiresAt} ${objectKey}`, () =>
      signMediaKey(secrets, objectKey, expiresAt),
    );
    const url = `${origin}/media/${token}/`;
    const characters = MEDIA_URL_CHARACTERS - FRAGMENT_CHARACTERS - url.length;
    return url + shortFileName(name, Math.max(characters, MIN_NAME_CHARACTERS));
  };
}
