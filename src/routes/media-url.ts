import { MEDIA_URL_MS } from "../config.ts";
import { keySecrets, signMediaKey } from "../keys.ts";
import { fileName } from "./attachment.ts";
import type { Context } from "./endpoint.ts";

/** Makes a URL that a browser can load for an hour without a key. */
export type MediaUrl = (objectKey: string, name: string) => Promise<string>;

export function mediaUrls(c: Context): MediaUrl {
  const secrets = keySecrets(c.env);
  const { origin } = new URL(c.req.url);
  const expiresAt = Date.now() + MEDIA_URL_MS;
  return async (objectKey, name) => {
    const token = await signMediaKey(secrets, objectKey, expiresAt);
    return `${origin}/media/${token}/${encodeURIComponent(fileName(name))}`;
  };
}
