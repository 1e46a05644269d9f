import type { AssetSource } from "./types.ts";

/** Words in the names of query parameters that carry or belong to a signature or a token. */
const CREDENTIAL =
  /sig(?:nature)?$|^sig|token|secret|passw|credential|auth|api[-_]?key|access[-_]?key|^key$|^key-pair-id$|jwt|session|hmac|^x-(?:amz|goog|ms|oss|cos)-|^policy$|expires|^hdn/i;

/**
 * Removes what gives access from a URL: user info, the fragment, and the whole query if one of its
 * parameters is a credential, since a signature covers the others. Other text stays as it is.
 */
export function withoutCredentials(text: string): string {
  const url = /^https?:/i.test(text) ? URL.parse(text) : null;
  if (!url) return text;
  const hasCredential = [...url.searchParams.keys()].some((name) => CREDENTIAL.test(name));
  if (!hasCredential && url.username + url.password + url.hash === "") return text;
  url.username = "";
  url.password = "";
  url.hash = "";
  if (hasCredential) url.search = "";
  return url.href;
}

/** Returns where an asset came from, without what opens its file. */
export function publicSource(source: AssetSource): AssetSource {
  const { url, platform_id: id } = source; // a file's URL is its id on the platform "web"
  return {
    ...source,
    ...(url !== undefined && { url: withoutCredentials(url) }),
    ...(id !== undefined && { platform_id: withoutCredentials(id) }),
  };
}
