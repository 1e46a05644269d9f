import { toOneLine } from "./clean-text.ts";

const MAX_CHARACTERS = 300;

/**
 * Makes a title of a file name or of another text: one line of at most 300 characters, which shows
 * nothing as something else. Empty if nothing is left.
 */
export function cleanTitle(text: string): string {
  return toOneLine(text).slice(0, MAX_CHARACTERS).toWellFormed();
}

/** Returns the last path segment of a URL as a title; the host without any. */
export function titleFromUrl(url: string): string {
  const { pathname, host } = new URL(url);
  const name = pathname.split("/").findLast(Boolean) ?? host;
  try {
    return cleanTitle(decodeURIComponent(name));
  } catch {
    return cleanTitle(name); // malformed percent encoding
  }
}
