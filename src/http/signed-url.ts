import { MEDIA_URL_CHARACTERS, MEDIA_URL_MS } from "../config.ts";
import { remember } from "../isolate-memory.ts";
import { LruCache } from "../lru-cache.ts";
import { signMediaKey } from "../media-token.ts";
import { keySecrets } from "../signed-token.ts";
import { shortFileName } from "./content-disposition.ts";
import type { Context } from "./context.ts";

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
