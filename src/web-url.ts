const CONTROL = /\p{Cc}/u;

/** Parses an http or https URL; null for other text, and for text with control characters. */
export function parseWebUrl(text: string): URL | null {
  const url = CONTROL.test(text) ? null : URL.parse(text);
  return url && /^https?:$/.test(url.protocol) ? url : null;
}

/** Whether a URL has a user name or a password. */
export function hasUserInfo({ username, password }: URL): boolean {
  return username !== "" || password !== "";
}
