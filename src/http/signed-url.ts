import { MEDIA_URL_MS } from "../config.ts";
import { keySecrets, signMediaKey } from "../keys.ts";
import { LruCache } from "../lru-cache.ts";
import { fileName } from "./content-disposition.ts";
import type { Context } from "./context.ts";

/**
 * Signs a URL for a stored object. The URL works without an API key for `MEDIA_URL_MS`, less up to
 * a minute.
 */
export type MediaUrlSigner = (objectKey: string, name: string) => Promise<string>;

/** URLs of one object are the same within this time, so that a browser finds its cached copy. */
const STABLE_MS = 60_000;

/** Recent tokens of this isolate: searches repeat while someone types, and on every page. */
const tokens = new LruCache<string>(10_000);

export function createMediaUrlSigner(c: Context): MediaUrlSigner {
  const secrets = keySecrets(c.env);
  const { origin } = new URL(c.req.url);
  const expiresAt = Math.floor(Date.now() / STABLE_MS) * STABLE_MS + MEDIA_URL_MS;
  return async (objectKey, name) => {
    const token = await tokens.get(`${expiresAt} ${objectKey}`, () =>
      signMediaKey(secrets, objectKey, expiresAt),
    );
    return `${origin}/media/${token}/${encodeURIComponent(fileName(name))}`;
  };
}
