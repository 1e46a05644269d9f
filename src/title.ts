const MAX_CHARACTERS = 300;
/** Control characters, such as line breaks. */
const CONTROLS = /\p{Cc}+/gu;
/** Characters that change the direction of the text around them (Unicode, annex 9). */
const BIDI_CONTROLS = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/**
 * Makes a title of a file name or of another text: one line of at most 300 characters, which shows
 * nothing as something else. Empty if nothing is left.
 */
export function cleanTitle(text: string): string {
  const line = text.toWellFormed().replaceAll(BIDI_CONTROLS, "").replaceAll(CONTROLS, " ");
  return line.trim().slice(0, MAX_CHARACTERS).toWellFormed();
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
