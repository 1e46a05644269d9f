import { LIMITS } from "./config.ts";

/**
 * Form of a language tag whose language is an ISO 639 code. BCP 47 also allows 4 to 8 letters, but
 * no such language is registered, and names such as `english` have that form.
 */
export const LANGUAGE_TAG = /^[A-Za-z]{2,3}(-[A-Za-z0-9]{1,8})*$/;

/** Tests whether a text is a well-formed language tag (BCP 47) of an accepted length. */
export function isLanguageTag(text: string): boolean {
  if (text.length > LIMITS.languageCharacters || !LANGUAGE_TAG.test(text)) return false;
  try {
    return Intl.getCanonicalLocales(text).length === 1;
  } catch {
    return false;
  }
}
