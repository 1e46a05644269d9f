import { QUOTES } from "../parameters.ts";
import { contentWords, uniqueWords } from "../search/query.ts";
import {
  guessLanguage,
  isEnglishFunctionWord,
  isFunctionWord,
  isStopWord,
  type Language,
} from "../text/languages.ts";
import { QueryTerms } from "../text/query-terms.ts";
import { splitSentences } from "../text/sentences.ts";

/** The text of a source. */
export interface SourceText {
  speech: string;
  onScreenText: string;
  caption: string;
}

/** A verbatim sentence of a source. */
export interface Quote {
  sentence: string;
  marker: number;
}

/**
 * Returns the sentences that answer a question in its words, best first, at most one of each
 * source: those with `QUOTES.minTermCoverage` of the question's terms and all of its names.
 * Sentences with less than `QUOTES.minRelativeCoverage` of the best one's coverage are dropped.
 */
export function quoteByWords(question: string, sources: ReadonlyMap<number, SourceText>): Quote[] {
  const language = guessLanguage(question);
  const required = new QueryTerms(requiredTerms(question, language));
  const names = new QueryTerms(namesIn(question));
  const quotes = [...sources].flatMap(([marker, source]) => {
    const [best] = sentencesOf(source)
      .map((sentence) => ({ sentence, marker, coverage: coverageIn(sentence, required, language) }))
      .filter(({ sentence, coverage }) => {
        return coverage >= QUOTES.minTermCoverage && coverageIn(sentence, names, language) === 1;
      })
      .toSorted((a, b) => b.coverage - a.coverage);
    return best ? [best] : [];
  });
  const sorted = quotes.toSorted((a, b) => b.coverage - a.coverage);
  const distinct = new Set<string>();
  return sorted
    .filter(({ coverage }) => coverage >= QUOTES.minRelativeCoverage * sorted[0]!.coverage)
    .filter(({ sentence }) => !distinct.has(sentence) && distinct.add(sentence))
    .slice(0, QUOTES.maxSentences)
    .map(({ sentence, marker }) => ({ sentence, marker }));
}

/** Returns the share of terms in a sentence, 0–1; 1 if there are no terms. */
function coverageIn(sentence: string, terms: QueryTerms, language: Language): number {
  if (terms.count === 0) return 1;
  return new Set(terms.findMatches(sentence, language).map(({ term }) => term)).size / terms.count;
}

/** Words of questions about everything in a video. */
export const OVERVIEW_WORDS: ReadonlySet<string> = new Set(
  `about content describe explain going happen happened happening happens here look overview part
   say said saying says scene see seen show shown shows story summarise summarize summary take
   talk talked talking talks tell tells thing things video videos watch`.split(/\s+/),
);

/**
 * Attribute whose value is the answer ("how long", "which colour", "what kind of"): not required.
 */
const REQUESTED_ATTRIBUTE = // bounded: LIMITS.queryCharacters
  /\b(?:how|(?:which|what)(?:\s+(?<kind>kind|sort|type)s?\s+of)?)\s+(?<word>[\p{L}\p{M}]+)/giu;
/** Minimum of required terms without the attribute: a subject and a statement about it. */
const MIN_REQUIRED_TERMS = 2;

/** Returns the words of a question that a sentence must have to answer it. */
function requiredTerms(question: string, language: Language): string[] {
  const content = contentWords(question);
  const specific = content.filter((word) => {
    const isFunction = isEnglishFunctionWord(word) || isFunctionWord(word, language);
    return !OVERVIEW_WORDS.has(word) && !isFunction;
  });
  const attributes = new Set(
    [...question.matchAll(REQUESTED_ATTRIBUTE)].flatMap(({ groups }) =>
      uniqueWords(`${groups?.["kind"] ?? ""} ${groups?.["word"] ?? ""}`),
    ),
  );
  const stated = specific.filter((word) => !attributes.has(word));
  if (stated.length >= MIN_REQUIRED_TERMS) return stated;
  return specific.length > 0 ? specific : content;
}

/** Returns the words of capitalised words inside a sentence, and numbers. */
export function namesIn(question: string): string[] {
  const names = question.matchAll(
    /(?<=[^\s.?!]\s{1,4}["“'(]?)(?:\p{Lu}[\p{L}\p{M}'’-]*|\p{N}[\p{N}.,:]*)/gu,
  );
  return [...names].flatMap(([name]) => uniqueWords(name)).filter((word) => !isStopWord(word));
}

/** A longer one isn't an answer: speech without full stops, or numbers. */
const MAX_SENTENCE_CHARACTERS = 1000;

/** Parts the texts of two screens, none of whose sentences goes on in the other. */
export const SCREEN_BREAK = "\n\n";

/** Returns the sentences of a source: of its speech, its on-screen text and its caption. */
export function sentencesOf({ speech, onScreenText, caption }: SourceText): string[] {
  const screens = onScreenText.split(SCREEN_BREAK).map((text) => text.replaceAll("\n", " "));
  const sentences = [speech, ...screens, caption].flatMap(splitSentences);
  return [...new Set(sentences)].filter(({ length }) => length <= MAX_SENTENCE_CHARACTERS);
}
