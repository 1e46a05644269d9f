import { MEDIA_URL_MS } from "../config.ts";
import { keySecrets, signMediaKey } from "../keys.ts";
import { fileName } from "./content-disposition.ts";
import type { Context } from "./context.ts";

/** Signs a URL for a stored object. The URL works without an API key for `MEDIA_URL_MS`. */
export type MediaUrlSigner = (objectKey: string, name: string) => Promise<string>;

export function createMediaUrlSigner(c: Context): MediaUrlSigner {
  const secrets = keySecrets(c.env);
  const { origin } = new URL(c.req.url);
  const expiresAt = Date.now() + MEDIA_URL_MS;
  return async (objectKey, name) => {
    const token = await signMediaKey(secrets, objectKey, expiresAt);
    return `${origin}/media/${token}/${encodeURIComponent(fileName(name))}`;
  };
}
