import type { PromptEvidence } from "../prompts.ts";
import { contentWords, tokenizeWords } from "../search/query.ts";
import { detectLanguage } from "../text/languages.ts";
import { wordForm } from "../text/stems.ts";
import type { TimeRangeMs } from "../time-range.ts";
import { hasUnsegmentedScript } from "../unsegmented-scripts.ts";
import { findQuotations } from "./answer-parser.ts";
import {
  findContactDetails,
  findNames,
  findNumbers,
  normalizeClaimText,
  numberForms,
} from "./claim-details.ts";
import words from "./claim-words.json" with { type: "json" };

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
/** Minimum length of a quotation that is verified: shorter ones are names and idioms. */
const MIN_QUOTED_WORDS = 3;
const CLOCK = /(?<![\d:])(?:(\d{1,2}):)?(\d{1,2}):(\d\d)(?![\d:])/gu;
/** Words that agree or disagree with a question, and state nothing else. */
const YES_NO = new Set(words.yesNo.split(" "));
/** Words that describe only what an image shows, and answer a question in a word. */
const VISUAL_WORDS = new Set(words.visual.split(" "));

/** Returns the quotations of at least three words. */
export function quotationsToVerify(sentence: string): string[] {
  return findQuotations(sentence)
    .map(({ text }) => text)
    .filter((quoted) => tokenizeWords(quoted).length >= MIN_QUOTED_WORDS);
}

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
  const support = cited.hasText ? supportIn(supportableWords(text, cited), cited) : 0;
  if (namesCredential(text) && support < 1) return false;
  if (hasInstruction(text) && support < MIN_INSTRUCTION_SUPPORT) return false;
  const details = [text, normalizeClaimText(markup)].flatMap(findContactDetails);
  if (!details.every((detail) => cited.hasPhrase(detail))) return false;
  if (!findNames(text, detectLanguage(text)).every((name) => cited.hasWord(name))) return false;
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
  const isTranslated = language !== null && !cited.languages.has(language);
  if (isTranslated && cited.hasText && !cited.languages.has(detectLanguage(text))) return true;
  const words = supportableWords(text, cited);
  if (!cited.hasImage) return supportIn(words, cited) >= MIN_SUPPORT;
  const asked = new Set(contentWords(question).map(toStem));
  const isVisual = (word: string) => VISUAL_WORDS.has(word) || /^\d/.test(toStem(word));
  return (
    words.some((word) => cited.hasWord(word) || asked.has(toStem(word))) || words.every(isVisual)
  );
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

/** Stems a word as the full-text index does. */
function toStem(word: string): string {
  return wordForm(word, "en").stem;
}

/** What a claim may rest on. */
export interface ClaimEvidence extends PromptEvidence {
  /** Whether the model was shown an image of the source. */
  hasImage: boolean;
}

/** Sources that one sentence cites, prepared for look-ups. */
export class CitedText {
  readonly hasImage: boolean;
  /** Whether there is speech, on-screen text or a caption. */
  readonly hasText: boolean;
  /** Whether an image was shown of which nothing says in words what is in it. */
  readonly hasUndescribedImage: boolean;
  readonly count: number;
  readonly numbers: ReadonlySet<string>;
  /** Languages of the fields with text. */
  readonly languages: ReadonlySet<string>;
  readonly #stems: ReadonlySet<string>;
  readonly #letters: string;
  /** Offsets in `#letters` at which a word starts or ends. */
  readonly #boundaries = new Set([0]);
  readonly #timeRanges: TimeRangeMs[];

  constructor(sources: readonly ClaimEvidence[]) {
    const texts = sources.flatMap(({ saidBefore, speech, onScreenText, caption }) => {
      return [saidBefore, speech, onScreenText, caption].filter(Boolean);
    });
    const titles = sources.map(({ title }) => title);
    const text = normalizeClaimText([...titles, ...texts].join("\n"));
    this.hasImage = sources.some(({ hasImage }) => hasImage);
    this.hasText = texts.length > 0;
    this.hasUndescribedImage = sources.some(({ hasImage, caption }) => hasImage && caption === "");
    this.count = sources.length;
    this.numbers = numberForms(text);
    this.languages = new Set(texts.map(detectLanguage));
    this.#timeRanges = sources.flatMap(({ timeRange }) => timeRange ?? []);
    const words = tokenizeWords(text);
    this.#stems = new Set(words.map(toStem));
    this.#letters = words.join("");
    let length = 0;
    for (const word of words) {
      const parts = hasUnsegmentedScript(word) ? Array.from(word) : [word];
      for (const part of parts) this.#boundaries.add((length += part.length));
    }
  }

  /**
   * Tests whether the words of a phrase are in the sources in a row, comparing letters and digits
   * only: speech recognition and OCR get case, diacritics, punctuation and spaces wrong. The parts
   * of a phrase with an ellipsis ("…") must follow in order.
   */
  hasPhrase(phrase: string): boolean {
    let end: number | undefined = 0;
    for (const part of phrase.split(/…|\.{3}/)) {
      end = this.#findEnd(tokenizeWords(part).join(""), end);
      if (end === undefined) return false;
    }
    return true;
  }

  /** Returns where letters that start at `from` or later end, both between words. */
  #findEnd(letters: string, from: number): number | undefined {
    for (const start of this.#boundaries) {
      const end = start + letters.length;
      const isBetween = start >= from && this.#boundaries.has(end);
      if (isBetween && this.#letters.startsWith(letters, start)) return end;
    }
    return undefined;
  }

  /** Tests whether the sources have a word, or another form of it ("boats", "boat"). */
  hasWord(word: string): boolean {
    return (
      this.#stems.has(toStem(word)) || (hasUnsegmentedScript(word) && this.#letters.includes(word))
    );
  }

  /** Tests whether a time of the video, in seconds, is within a second of a cited source. */
  hasTime(seconds: number): boolean {
    return this.#timeRanges.some(({ startMs, endMs }) => {
      return seconds * 1000 > startMs - 1000 && seconds * 1000 < endMs + 1000;
    });
  }
}

/** Makes alternatives of a regular expression of words and phrases. */
function anyOf(phrases: readonly string[]): string {
  return `(?:${phrases.join("|").replaceAll(" ", String.raw`\s`)})`;
}

/** Words for secrets. */
const SECRETS = anyOf(words.secrets);
const SECRETS_WITHOUT_SPACES = anyOf(words.secretsWithoutSpaces);
const CREDENTIAL_FORMS: readonly RegExp[] = [
  new RegExp(String.raw`(?<!\p{L})${SECRETS}(?!\p{L})|${SECRETS_WITHOUT_SPACES}`, "iu"),
  /(?<!\p{L})PIN(?!\p{L})/u,
];

/** Tests whether a sentence is about a password, a key, a card number or another secret. */
export function namesCredential(sentence: string): boolean {
  return CREDENTIAL_FORMS.some((form) => form.test(sentence));
}

/** Verbs of instructions. */
const VERBS = anyOf(words.verbs.split(" "));
/** Verbs of instructions that are also nouns or adjectives: they need an object. */
const NOUN_VERBS = anyOf(words.nounVerbs.split(" "));
const OBJECT = anyOf(words.objects.split(" "));
/** Polite forms in other languages, which start a sentence. */
const FOREIGN_INSTRUCTIONS = anyOf(words.foreignInstructions);
const PLEASE = anyOf(words.please);
const ASIAN_INSTRUCTIONS = anyOf(words.asianInstructions.split(" "));
const READERS = anyOf(words.readers.split(" "));
const OBLIGATIONS = anyOf(words.obligations);
const ADVICE = anyOf(words.advice.split(" "));
const SENTENCE_START = String.raw`(?:^|[.!?:;|\n]\s*)["“'(]?`;
const ADVERBS = `(?:${anyOf(words.adverbs)}\\s+)*`;

const INSTRUCTIONS: readonly RegExp[] = [
  String.raw`${SENTENCE_START}${ADVERBS}${VERBS}(?=[.!]|$|\s+(?!(?:is|are|was|were)\b))`,
  String.raw`(?:${SENTENCE_START}|,\s*)${ADVERBS}(?:${NOUN_VERBS}|${VERBS})\s+${OBJECT}(?!\p{L})`,
  String.raw`(?<!\p{L})${PLEASE}(?!\p{L})`,
  String.raw`${SENTENCE_START}${FOREIGN_INSTRUCTIONS}(?!\p{L})`,
  String.raw`(?<!\p{L})${READERS}\s+${OBLIGATIONS}(?!\p{L})`,
  String.raw`(?<!\p{L})(?:is|be)\s+${ADVICE}\s+to(?!\p{L})`,
  String.raw`(?<!\p{L})(?:asks?|tells?|urges?|invites?)\s+${READERS}\s+to(?!\p{L})`,
  String.raw`(?:^|,\s*)to\s[^,]+,\s*(?:${NOUN_VERBS}|${VERBS})(?!\p{L})`,
  ASIAN_INSTRUCTIONS,
].map((source) => new RegExp(source, "iu"));

/** Tests whether a sentence tells its reader to do something, in some languages. */
export function hasInstruction(sentence: string): boolean {
  const text = sentence.replaceAll(/\s{2,}/g, (space) => (space.includes("\n") ? "\n" : " "));
  return INSTRUCTIONS.some((form) => form.test(text));
}
