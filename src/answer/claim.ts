import { stemmer } from "stemmer";
import { fold } from "../normal-form/fold.ts";
import { contentWords, foldPlural, uniqueWords } from "../search/query.ts";
import type { TimeRangeMs } from "../time-range.ts";
import { hasUnsegmentedScript } from "../unsegmented-scripts.ts";
import { findNames, hasName, findNumbers, numberForms } from "./claim-details.ts";
import {
  detectLanguage,
  hasInstruction,
  namesCredential,
  VISUAL_WORDS,
  YES_NO,
} from "./claim-language.ts";
import { normalizeClaimText, findContactDetails } from "./claim-text.ts";
import { findQuotations } from "./sentences.ts";

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

/** What a claim may rest on. */
export interface ClaimEvidence {
  title: string;
  speech: string;
  onScreenText: string;
  caption: string;
  /** Whether the model was shown an image of the source. */
  hasImage: boolean;
  /** Null for an image. */
  timeRange: TimeRangeMs | null;
}

/** Sources that one sentence cites, prepared for look-ups. */
export class CitedText {
  readonly text: string;
  readonly hasImage: boolean;
  /** Whether there is speech, on-screen text or a caption. */
  readonly hasText: boolean;
  /** Whether an image was shown of which nothing says in words what is in it. */
  readonly hasUndescribedImage: boolean;
  readonly count: number;
  readonly numbers: ReadonlySet<string>;
  /** Folded words, title included. */
  readonly words: ReadonlySet<string>;
  /** Languages of the fields with text; `en` for a text in Latin script that is too short. */
  readonly languages: ReadonlySet<string>;
  readonly #stems: ReadonlySet<string>;
  readonly #letters: string;
  /** Offsets in `#letters` at which a word starts or ends. */
  readonly #boundaries: ReadonlySet<number>;
  readonly #timeRanges: TimeRangeMs[];

  constructor(sources: readonly ClaimEvidence[]) {
    const texts = sources.flatMap(({ speech, onScreenText, caption }) => {
      return [speech, onScreenText, caption].filter(Boolean);
    });
    const titles = sources.map(({ title }) => title);
    this.text = normalizeClaimText([...titles, ...texts].join("\n"));
    this.hasImage = sources.some(({ hasImage }) => hasImage);
    this.hasText = texts.length > 0;
    this.hasUndescribedImage = sources.some(({ hasImage, caption }) => hasImage && caption === "");
    this.count = sources.length;
    this.numbers = numberForms(this.text);
    this.words = new Set(uniqueWords(this.text));
    this.languages = new Set(texts.map((text) => detectLanguage(text) ?? "en"));
    this.#stems = new Set([...this.words].map(toStem));
    this.#timeRanges = sources.flatMap(({ timeRange }) => timeRange ?? []);
    const boundaries = new Set([0]);
    let letters = "";
    for (const word of wordsOf(this.text)) {
      letters += word;
      boundaries.add(letters.length);
    }
    this.#letters = letters;
    this.#boundaries = boundaries;
  }

  /** Tests whether the words of a phrase are in the sources in a row; spaces and marks aside. */
  hasPhrase(phrase: string): boolean {
    const letters = wordsOf(phrase).join("");
    for (
      let at = this.#letters.indexOf(letters);
      at >= 0;
      at = this.#letters.indexOf(letters, at + 1)
    ) {
      if (this.#boundaries.has(at) && this.#boundaries.has(at + letters.length)) return true;
    }
    return false;
  }

  /** Tests whether the sources have a word, or another form of it ("boats", "boat"). */
  hasWord(word: string): boolean {
    if (this.words.has(word) || this.#stems.has(toStem(word))) return true;
    return hasUnsegmentedScript(word) && this.#letters.includes(word);
  }

  /** Tests whether a time of the video, in seconds, is within a second of a cited source. */
  hasTime(seconds: number): boolean {
    return this.#timeRanges.some(({ startMs, endMs }) => {
      return seconds * 1000 > startMs - 1000 && seconds * 1000 < endMs + 1000;
    });
  }
}

/** Returns the words of a text in order, folded; each part of a compound is a word. */
function wordsOf(text: string): string[] {
  return fold(text).match(/[\p{L}\p{N}\p{M}]+/gu) ?? [];
}

/** Stems a word as the full-text index does, and folds the plural first. */
function toStem(word: string): string {
  return stemmer(foldPlural(word));
}

/** Minimum length of a quotation that is verified: shorter ones are names and idioms. */
const MIN_QUOTED_WORDS = 3;

/** Number of consecutive words of the prompt that are a leak, not chance. */
const LEAK_WORDS = 8;

const SEGMENTER = new Intl.Segmenter("en", { granularity: "word" });

/** Returns the quotations of at least three words. */
export function quotationsToVerify(sentence: string): string[] {
  return findQuotations(sentence)
    .map(({ text }) => text)
    .filter((quoted) => wordsIn(quoted).length >= MIN_QUOTED_WORDS);
}

/**
 * Tests whether a text contains a quotation, comparing letters and digits only: speech recognition
 * and OCR get case, diacritics, punctuation and spaces wrong. The parts of a quotation with an
 * ellipsis ("…") must follow in order.
 */
export function isQuotedFrom(quotation: string, text: string): boolean {
  const letters = lettersOf(text);
  let from = 0;
  for (const part of quotation.split(/…|\.{3}/).map(lettersOf)) {
    const at = letters.indexOf(part, from);
    if (at < 0) return false;
    from = at + part.length;
  }
  return true;
}

/** Finds eight consecutive words of a prompt in a text that is passed in chunks. */
export class PromptLeakDetector {
  readonly #promptShingles: Set<string>;
  #lastWords: string[] = [];

  constructor(prompt: string) {
    this.#promptShingles = new Set(toShingles(wordsIn(prompt)));
  }

  /** Tests whether a leak ends in this chunk; it may start in earlier ones. */
  hasLeak(chunk: string): boolean {
    const words = [...this.#lastWords, ...wordsIn(chunk)];
    this.#lastWords = words.slice(1 - LEAK_WORDS);
    return toShingles(words).some((shingle) => this.#promptShingles.has(shingle));
  }
}

/** Returns all sequences of `LEAK_WORDS` consecutive words. */
function toShingles(words: string[]): string[] {
  return words.slice(LEAK_WORDS - 1).map((_, i) => words.slice(i, i + LEAK_WORDS).join(" "));
}

/** Returns the words of a text in order; segments scripts without spaces by dictionary. */
function wordsIn(text: string): string[] {
  return [...SEGMENTER.segment(fold(text))]
    .filter((word) => word.isWordLike)
    .map(({ segment }) => segment);
}

function lettersOf(text: string): string {
  return fold(text).replaceAll(/[^\p{L}\p{N}]+/gu, "");
}
