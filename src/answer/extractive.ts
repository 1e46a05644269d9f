import { ANSWER } from "../config.ts";
import type { Hit } from "../search/hits.ts";
import type { Source } from "./sources.ts";
import { contentWords, uniqueWords } from "../search/query.ts";
import { QueryTerms } from "../search/query-terms.ts";

/** A verbatim sentence of a hit. */
export interface Quote {
  sentence: string;
  hit: Hit;
}

/**
 * Answers without a model: returns the best sentence of each hit that has at least
 * `ANSWER.minTermCoverage` of the question's terms and all of its names. Sentences with less than
 * `ANSWER.minRelativeCoverage` of the best one's coverage are dropped.
 */
export function extractQuotes(question: string, hits: Hit[]): Quote[] {
  const required = new QueryTerms(requiredTerms(question));
  const names = new QueryTerms(namesIn(question));
  const quotes = hits.flatMap((hit) => {
    const [best] = sentencesOf(hit)
      .map((sentence) => ({ sentence, hit, coverage: coverageIn(sentence, required) }))
      .filter(({ sentence, coverage }) => {
        return coverage >= ANSWER.minTermCoverage && coverageIn(sentence, names) === 1;
      })
      .toSorted((a, b) => b.coverage - a.coverage);
    return best ? [best] : [];
  });
  const sorted = quotes.toSorted((a, b) => b.coverage - a.coverage || a.hit.rank - b.hit.rank);
  const distinct = new Set<string>();
  return sorted
    .filter(({ coverage }) => coverage >= ANSWER.minRelativeCoverage * sorted[0]!.coverage)
    .filter(({ sentence }) => !distinct.has(sentence) && distinct.add(sentence))
    .slice(0, ANSWER.maxSentences);
}

/** Returns the share of terms in a sentence, 0–1; 1 if there are no terms. */
function coverageIn(sentence: string, terms: QueryTerms): number {
  if (terms.count === 0) return 1;
  return new Set(terms.findMatches(sentence).map(({ term }) => term)).size / terms.count;
}

/**
 * Attribute whose value is the answer ("how long", "which colour", "what kind of"): not required.
 */
const REQUESTED_ATTRIBUTE =
  /\b(?:how|(?:which|what)(?:\s+(?<kind>kind|sort|type)s?\s+of)?)\s+(?<word>[\p{L}\p{M}]+)/giu;
/** Minimum of required terms without the attribute: a subject and a statement about it. */
const MIN_REQUIRED_TERMS = 2;

/** Returns the words of a question that a sentence must have to answer it. */
function requiredTerms(question: string): string[] {
  const content = contentWords(question);
  const specific = content.filter((word) => !GENERAL.has(word));
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
function namesIn(question: string): string[] {
  const names = question.matchAll(
    /(?<=[^\s.?!]\s+["“'(]?)(?:\p{Lu}[\p{L}\p{M}'’-]*|\p{N}[\p{N}.,:]*)/gu,
  );
  return [...names].flatMap(([name]) => uniqueWords(name));
}

/** Words of questions about everything in a video, which name nothing specific. */
const GENERAL = new Set(
  `about content describe explain going happen happened happening happens here going look overview
   part say said saying says scene see seen show shown shows story summarise summarize summary take
   talk talked talking talks tell tells thing things video videos watch`.split(/\s+/),
);

/** Tests whether a question names nothing specific: "What happens here?" */
export function isGenericQuestion(question: string): boolean {
  return contentWords(question).every((word) => GENERAL.has(word));
}

/**
 * Quotes the first sentence of evenly spaced sources: of their speech, on-screen text or caption.
 * At most `ANSWER.maxSentences`, without duplicates.
 */
export function quoteSources(sources: readonly Source[]): Quote[] {
  const quotes = sources.flatMap(({ hit, speech, onScreenText, caption }) => {
    const [sentence] = splitSentences(speech || onScreenText || caption);
    return sentence === undefined ? [] : [{ sentence, hit }];
  });
  const step = Math.max(1, quotes.length / ANSWER.maxSentences);
  const sampled = quotes.filter((_, i) => i % step < 1);
  return [...new Map(sampled.map((quote) => [quote.sentence, quote])).values()];
}

/** Returns the sentences of the fields with evidence, best evidence first. */
function sentencesOf({ segment, evidence }: Hit): string[] {
  const textByKind = {
    speech: segment.transcript,
    text: segment.onScreenText.replaceAll("\n", " "),
    caption: segment.caption,
    visual: segment.caption,
  };
  const kinds = new Set(evidence.map(({ kind }) => kind));
  return [...kinds].flatMap((kind) => splitSentences(textByKind[kind]));
}

const SEGMENTER = new Intl.Segmenter("en", { granularity: "sentence" });

/** Splits a text at sentence boundaries (UAX #29). */
function splitSentences(text: string): string[] {
  return [...SEGMENTER.segment(text)].map(({ segment }) => segment.trim()).filter(Boolean);
}
