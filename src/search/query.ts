import { LIMITS } from "../config.ts";
import type { AppError } from "../errors.ts";
import type { SegmentId } from "../ids.ts";
import { LruCache } from "../lru-cache.ts";
import type { FtsQuery } from "../store/index-database/fulltext.ts";
import { fold } from "../text/fold.ts";
import { guessLanguage, isFunctionWord, isStopWord } from "../text/languages.ts";
import { isOneUnit, phraseForms, QueryTerms } from "../text/query-terms.ts";
import { normalForm } from "../text/tokens.ts";
import type { TimeRangeMs } from "../time-range.ts";
import { trimEndOf } from "../trim-end.ts";
import type { Tally, UnmatchedField } from "../types.ts";
import { hasUnsegmentedScript } from "../unsegmented-scripts.ts";

/**
 * A search's input, parsed once per request. Channels, evidence, localization and highlighting all
 * take it, so that an excluded word is excluded everywhere.
 */
export interface CompiledQuery extends ParsedQuery {
  /** The words in all their forms, matched in the text of segments. */
  terms: QueryTerms;
  /**
   * Every distinct word of the plain text, stop words included, to compare with labels of boxes.
   */
  labelWords: string[];
  /** The phrase for the object detector; null if the plain text names no object. */
  targetPhrase: string | null;
  /** A segment, asset, image or clip that hits are similar to; null for a text query. */
  example: ExampleQuery | null;
}

/** What recent texts say: one is read again for the next page, and to look at its spelling. */
const recent = new LruCache<Omit<CompiledQuery, "example">>(50);

/**
 * Reads a query, of whose words the first `LIMITS.queryWords` are searched for, and which is cut if
 * its characters are more by compatibility: one may stand for eighteen.
 */
export function compileQuery(text: string, example: ExampleQuery | null = null): CompiledQuery {
  const compiled = recent.getNow(`${example !== null} ${text}`, () => {
    const composed = text.normalize("NFKC");
    const isLonger = composed.length > LIMITS.queryCharacters;
    const read = isLonger ? composed.slice(0, LIMITS.queryCharacters) : text;
    const parsed = parseQuery(read, example !== null);
    const words = parsed.words.slice(0, LIMITS.queryWords);
    return {
      ...parsed,
      words,
      terms: new QueryTerms(words, parsed.plainText),
      labelWords: uniqueWords(parsed.plainText),
      targetPhrase: targetPhrase(parsed.plainText),
    };
  });
  return { ...compiled, example };
}

/** What a search took its text for. */
export interface QueryInterpretation {
  /** Words and phrases that no hit has. */
  excluded: string[];
  /** The text that was searched for instead; null if it was searched as written. */
  corrected: string | null;
  /** Conditions beside the query that were corrected, as written and as searched for. */
  correctedConditions?: { kind: "all" | "none"; query: string; corrected: string }[];
  /** What a query such as "a beach without people" is as a query with `none`; null for others. */
  suggested?: SuggestedQuery | null;
  /** Fields of the filter that can't match. */
  unmatchedFields?: UnmatchedField[];
  /** What is in the searched indices, if nothing was found; else null. */
  tallies?: Tally[] | null;
}

export function toInterpretation(
  { excluded }: Pick<CompiledQuery, "excluded">,
  corrected: string | null,
): QueryInterpretation {
  return { excluded: excluded.map((words) => words.join(" ")), corrected };
}

/** A query whose words say that something isn't there, as a query and what isn't there. */
export interface SuggestedQuery {
  /** Null if nothing is left. */
  query: string | null;
  none: string[];
}

/** A stored segment or asset, or an uploaded image or clip, that hits are similar to. */
export interface ExampleQuery {
  /** Direction in the space of image embeddings; null if there is none. */
  imageVector: number[] | null;
  /** Direction in the space of text embeddings; null if there is none. */
  textVector: number[] | null;
  /** Copies of an uploaded image or clip; null for a stored example. */
  copies: CopyMatch[] | null;
  /** The failure of an embedding model, if one was unavailable. */
  outage: AppError | null;
  /** The stored example itself, which isn't a hit. */
  exclude: { segmentId: string | null; assetId: string | null };
}

/** A stored copy of the example, edited or not. */
export interface CopyMatch {
  segmentId: SegmentId;
  /** 0–1; from `SIGNATURE.minCopySimilarity` on. */
  similarity: number;
  /** The part of the stored video that was copied; null for an image, or if alignment failed. */
  timeRange: TimeRangeMs | null;
}

/** The syntax of a query: plain text, quoted phrases and excluded terms. */
interface ParsedQuery {
  /** The text without excluded terms and quotation marks, for embeddings. May be empty. */
  plainText: string;
  /** Distinct content words of the plain text, folded; a date, a number or a code is one. */
  words: string[];
  /** Quoted phrases, each as words in order. A hit has all of them. */
  phrases: string[][];
  /** Excluded words and phrases, each as words in order. A hit has none of them. */
  excluded: string[][];
}

/** A minus excludes before a letter or a quotation mark: "-15" is a number. */
const TERM = /(?<![\p{L}\p{N}])(-(?=[\p{L}"“”«»]))?(?:["“”«»]([^"“”«»]*)["“”«»]|(\S+))/gu;

/**
 * Parses `"a phrase"`, `-word` and `-"a phrase"`; everything else is plain text. A query of
 * excluded terms only is read as plain text, unless the search also has an example (`hasExample`);
 * with an example, plain text without a word is empty.
 */
export function parseQuery(text: string, hasExample = false): ParsedQuery {
  const phrases: string[][] = [];
  const excluded: string[][] = [];
  const included = text.replaceAll(TERM, (term, minus?: string, quoted?: string, bare?: string) => {
    const words = tokenizeWords(quoted ?? bare ?? "");
    if (words.length === 0) return term;
    if (minus !== undefined) excluded.push(words);
    else if (quoted !== undefined) phrases.push(words);
    return minus === undefined ? (quoted ?? term) : " ";
  });
  const plainText = included.replaceAll(/\s+/g, " ").trim();
  if (tokenizeWords(plainText).length === 0) {
    if (hasExample) return { plainText: "", words: [], phrases: [], excluded };
    return { plainText: text, words: queryWords(text), phrases: [], excluded: [] };
  }
  return { plainText, words: queryWords(plainText), phrases, excluded };
}

export function toFtsQuery({ phrases, excluded }: ParsedQuery, terms: QueryTerms): FtsQuery {
  return {
    words: terms.forms,
    phrases: phrases.map(phraseForms),
    excluded: excluded.flatMap(phraseForms),
  };
}

/** Tests whether a text has a letter or a digit of any script: without one, nothing is searched. */
export function hasWord(text: string): boolean {
  return /[\p{L}\p{N}]/u.test(text);
}

/** Returns the distinct words of a text, folded, in order of first appearance. */
export function uniqueWords(text: string): string[] {
  return [...new Set(tokenizeWords(text))];
}

/** Segments scripts without spaces by dictionary (UAX #29). */
const SEGMENTER = new Intl.Segmenter("und", { granularity: "word" });

/** Returns the words of a text in order, folded. */
export function tokenizeWords(text: string): string[] {
  const runs = fold(text).match(/[\p{L}\p{N}\p{M}]+/gu) ?? [];
  const words = runs.flatMap((run) => {
    if (!hasUnsegmentedScript(run)) return run;
    return Array.from(SEGMENTER.segment(run), ({ segment }) => segment);
  });
  return words.filter(hasWord);
}

/**
 * Returns the distinct words of a text that aren't stop words; all words if there are no others.
 */
export function contentWords(text: string): string[] {
  const words = uniqueWords(text);
  const content = words.filter((word) => !isStopWord(word));
  return content.length > 0 ? content : words;
}

/**
 * Returns the distinct words of a query as `contentWords` does, but dates, numbers, codes and names
 * with symbols as one word each.
 */
function queryWords(text: string): string[] {
  const { tokens } = normalForm(text, "en");
  const units = [...Map.groupBy(tokens, ({ group }) => group).values()].flatMap((group) => {
    const written = text.slice(group[0]!.start, group.at(-1)!.end);
    if (hasUnsegmentedScript(written)) return tokenizeWords(written);
    return isOneUnit(group) ? fold(written) : group.map(({ folded }) => folded);
  });
  const words = [...new Set(units)];
  const language = guessLanguage(text);
  const isFunction = (word: string) => language !== "en" && isFunctionWord(word, language);
  const content = words.filter((word) => !isStopWord(word));
  const named = content.filter((word) => !isFunction(word));
  if (named.some((word) => word.length >= MIN_CONTENT_LETTERS)) return named;
  return content.length > 0 ? content : words;
}

/** Function words count beside shorter ones. */
const MIN_CONTENT_LETTERS = 3;

/** Words that request media ("show me a photo of …") instead of describing what it shows. */
const FRAMING_WORDS = new Set(
  `clip clips find frame frames image images moment moments photo photos picture pictures please
   scene scenes show video videos`.split(/\s+/),
);

/** A longer phrase describes an event, which an object detector can't point at. */
const MAX_TARGET_WORDS = 12;

/**
 * Returns the phrase that an object detector can point at: "where is the red cup?" → "red cup".
 * Null if the text has no content words, or the phrase is too long.
 */
export function targetPhrase(text: string): string | null {
  const words = text
    .split(/\s+/)
    .map((word) => trimEndOf(word, /[^\p{L}\p{N}]/u).replace(/^[^\p{L}\p{N}]+/u, ""))
    .filter(Boolean);
  const isContent = (word: string) =>
    !tokenizeWords(word).every((token) => isStopWord(token) || FRAMING_WORDS.has(token));
  const phrase = words.slice(words.findIndex(isContent), words.findLastIndex(isContent) + 1);
  return phrase.length > 0 && phrase.length <= MAX_TARGET_WORDS ? phrase.join(" ") : null;
}

/**
 * Folds an English plural: a light S-stemmer (Harman, "How effective is suffixing?", JASIS 1991).
 */
export function foldPlural(word: string): string {
  return word.replace(/(?<=s|x|ch|sh)es$|(?<![su])s$/, "");
}
