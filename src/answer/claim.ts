import { contentWords } from "../search/query.ts";
import { detectLanguage } from "./claim-language.ts";
import { findNames, hasName } from "./claim-names.ts";
import { findNumbers } from "./claim-numbers.ts";
import { type CitedText, toStem } from "./claim-source.ts";
import { normalizeClaimText } from "./claim-text.ts";
import { hasInstruction, namesCredential, VISUAL_WORDS, YES_NO } from "./claim-words.ts";
import { findContactDetails } from "./contact-details.ts";

/** What the caller asked for. */
export interface ClaimContext {
  question: string;
  /** Language of the answer as `detectLanguage` has it; null if unknown. */
  language: string | null;
}

/** Minimum share of a sentence's content words that its source has, unless it shows an image. */
const MIN_SUPPORT = 0.25;
/** The same for an instruction. */
const MIN_INSTRUCTION_SUPPORT = 2 / 3;
/** Length from which digits may be grouped in another way than in the source: phone numbers. */
const MIN_CODE_LENGTH = 5;
const CLOCK = /(?<![\d:])(?:(\d{1,2}):)?(\d{1,2}):(\d\d)(?![\d:])/gu;

/**
 * Tests whether what could do harm in a sentence stands in the cited sources: contact details,
 * codes, names, numbers, times, credentials and instructions. Small counts may be of what an image
 * shows, of the cited sources, or of what follows a title (`isTitle`). `markup` is the sentence as
 * written, with the targets of links.
 */
export function hasSupportedDetails(
  sentence: string,
  markup: string,
  cited: CitedText,
  isTitle = false,
): boolean {
  const text = normalizeClaimText(sentence);
  const words = supportableWords(text, cited);
  const support = supportIn(words, cited);
  if (namesCredential(text) && !(cited.hasText && support === 1)) return false;
  if (hasInstruction(text) && !(cited.hasText && support >= MIN_INSTRUCTION_SUPPORT)) return false;
  const details = [text, normalizeClaimText(markup)].flatMap(findContactDetails);
  if (!details.every((detail) => cited.hasPhrase(detail))) return false;
  const names = findNames(text, detectLanguage(text));
  if (!names.every((name) => hasName(cited.words, name))) return false;
  return hasSupportedNumbers(text, cited, isTitle);
}

function hasSupportedNumbers(text: string, cited: CitedText, isTitle: boolean): boolean {
  const isKnownTime = ([clock, hours = "0", minutes, seconds]: string[]) =>
    cited.hasTime(Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)) ||
    cited.hasPhrase(clock!);
  if (![...text.matchAll(CLOCK)].every(isKnownTime)) return false;
  return findNumbers(text.replaceAll(CLOCK, " ")).every(({ forms, isSmallCount }) => {
    const isKnown = (form: string) =>
      cited.numbers.has(form) || (form.length >= MIN_CODE_LENGTH && cited.hasPhrase(form));
    if (forms.some(isKnown)) return true;
    return isSmallCount && (isTitle || cited.hasImage || Number(forms[0]) <= cited.count);
  });
}

/**
 * Tests whether a sentence has to do with the cited sources. It needs words of their text: one in
 * four of its content words, or if the model saw an image, one in their text or in the question.
 * Not needed: for what an image shows that has no caption, and for a translation, if no field of
 * the sources is in the requested language, nor the sentence in a language of the sources.
 */
export function hasLexicalSupport(
  sentence: string,
  cited: CitedText,
  { question, language }: ClaimContext,
): boolean {
  const text = normalizeClaimText(sentence);
  if (cited.hasUndescribedImage) return cited.hasText || !/["“”„«»「」]/u.test(text);
  const words = supportableWords(text, cited);
  const isTranslated = language !== null && !cited.languages.has(language);
  if (isTranslated && cited.hasText && !isInLanguageOf(cited, text)) return true;
  if (!cited.hasImage) return supportIn(words, cited) >= MIN_SUPPORT;
  const asked = new Set(contentWords(question).map(toStem));
  return (
    words.some((word) => cited.hasWord(word) || asked.has(toStem(word))) ||
    words.every((word) => VISUAL_WORDS.has(word))
  );
}

function isInLanguageOf(cited: CitedText, text: string): boolean {
  const language = detectLanguage(text);
  return language !== null && cited.languages.has(language);
}

/** Returns the content words that need support, and the numbers that the cited sources have. */
function supportableWords(text: string, cited: CitedText): string[] {
  return contentWords(text).filter((word) => {
    return /\p{L}/u.test(word) ? !YES_NO.has(word) : cited.hasWord(word);
  });
}

/** Returns the share of words that the cited sources have; 1 without words. */
function supportIn(words: readonly string[], cited: CitedText): number {
  if (words.length === 0) return 1;
  return words.filter((word) => cited.hasWord(word)).length / words.length;
}
