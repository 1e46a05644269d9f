import { QUOTES } from "../parameters.ts";
import type { Hit } from "../search/hits.ts";
import { QueryTerms } from "../search/query-terms.ts";
import { contentWords, uniqueWords } from "../search/query.ts";
import { detectLanguage } from "./claim-language.ts";
import { FUNCTION_WORDS, namesIn, OVERVIEW_WORDS } from "./quotes/question.ts";
import { readQuestion, type Quote, quoteByMeaning } from "./quotes/quote-by-meaning.ts";
import type { QuoteEvidence } from "./quotes/verifier.ts";
import { endsWithAbbreviation } from "./sentences.ts";
import type { Source } from "./sources.ts";

/** A sentence of a hit, and how much of the question it has: 0–1. */
interface SentenceCandidate extends Quote {
  coverage: number;
}

/**
 * Answers without a language model: returns the sentences of hits that answer a question, best
 * first, at most one of each hit. Sentences in the question's words come first; if there are none,
 * those in other words, by `quoteByMeaning`. A question that isn't in English is answered in its
 * words only.
 */
export async function extractQuotes(
  env: Pick<Env, "AI">,
  question: string,
  hits: Hit[],
): Promise<Quote[]> {
  const literal = quoteByWords(question, hits);
  if ((detectLanguage(question) ?? "en") !== "en" || hits.length === 0) return literal;
  const reader = await readQuestion(question);
  const isCounted = ({ sentence, hit: { segment } }: Quote) => {
    const labels = segment.boxes.map(({ label }) => label);
    return !segment.caption.includes(sentence) || reader.agreesWithLabels(sentence, labels);
  };
  const answering = literal.filter(
    (quote) => isLiteralAnswer(reader.compare(quote.sentence)) && isCounted(quote),
  );
  if (answering.length > 0) return answering;
  const candidates = hits.flatMap((hit) => sentencesOf(hit).map((sentence) => ({ sentence, hit })));
  return quoteByMeaning(env.AI, reader, candidates.filter(isCounted));
}

/**
 * Whether a sentence in the question's words may answer it: it must name all that the question
 * names, have its verb, and state what is asked for, or a word that nobody knows.
 */
function isLiteralAnswer(evidence: QuoteEvidence | null): boolean {
  if (evidence === null) return false;
  const { missing, missingNouns, lacksVerb, mayBeAgent, stated, hasUnknown, isTyped } = evidence;
  if (missingNouns > 0 || lacksVerb) return false;
  if (stated !== false) return true;
  return !isTyped && missing === 0 && (mayBeAgent || hasUnknown);
}

/**
 * Returns the best sentence of each hit that has at least `QUOTES.minTermCoverage` of the
 * question's terms and all of its names. Sentences with less than `QUOTES.minRelativeCoverage` of
 * the best one's coverage are dropped.
 */
function quoteByWords(question: string, hits: Hit[]): Quote[] {
  const required = new QueryTerms(requiredTerms(question));
  const names = new QueryTerms(namesIn(question));
  const quotes = hits.flatMap((hit) => {
    const [best] = sentencesOf(hit)
      .map((sentence): SentenceCandidate => ({
        sentence,
        hit,
        coverage: coverageIn(sentence, required),
      }))
      .filter(({ sentence, coverage }) => {
        return coverage >= QUOTES.minTermCoverage && coverageIn(sentence, names) === 1;
      })
      .toSorted((a, b) => b.coverage - a.coverage);
    return best ? [best] : [];
  });
  const sorted = quotes.toSorted((a, b) => b.coverage - a.coverage || a.hit.rank - b.hit.rank);
  const distinct = new Set<string>();
  return sorted
    .filter(({ coverage }) => coverage >= QUOTES.minRelativeCoverage * sorted[0]!.coverage)
    .filter(({ sentence }) => !distinct.has(sentence) && distinct.add(sentence))
    .slice(0, QUOTES.maxSentences);
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
  const specific = content.filter((word) => !OVERVIEW_WORDS.has(word) && !FUNCTION_WORDS.has(word));
  const attributes = new Set(
    [...question.matchAll(REQUESTED_ATTRIBUTE)].flatMap(({ groups }) =>
      uniqueWords(`${groups?.["kind"] ?? ""} ${groups?.["word"] ?? ""}`),
    ),
  );
  const stated = specific.filter((word) => !attributes.has(word));
  if (stated.length >= MIN_REQUIRED_TERMS) return stated;
  return specific.length > 0 ? specific : content;
}

/** Tests whether a question names nothing specific: "What happens here?" */
export function isGenericQuestion(question: string): boolean {
  return contentWords(question).every((word) => OVERVIEW_WORDS.has(word));
}

/**
 * Quotes the first sentence of evenly spaced sources: of their speech, on-screen text or caption.
 * At most `QUOTES.maxSentences`, without duplicates.
 */
export function quoteSources(sources: readonly Source[]): Quote[] {
  const quotes = sources.flatMap(({ hit, speech, onScreenText, caption }) => {
    const [sentence] = splitSentences(speech || onScreenText || caption);
    return sentence === undefined ? [] : [{ sentence, hit }];
  });
  const step = Math.max(1, quotes.length / QUOTES.maxSentences);
  const sampled = quotes.filter((_, i) => i % step < 1);
  return [...new Map(sampled.map((quote) => [quote.sentence, quote])).values()];
}

/** Returns the sentences of a hit, those of the fields with evidence first. */
function sentencesOf({ segment, evidence }: Hit): string[] {
  const textByKind = {
    speech: segment.transcript,
    text: segment.onScreenText.replaceAll("\n", " "),
    caption: segment.caption,
    visual: segment.caption,
  };
  const kinds = new Set([
    ...evidence.map(({ kind }) => kind),
    ...(["speech", "text", "caption"] as const),
  ]);
  return [...new Set([...kinds].flatMap((kind) => splitSentences(textByKind[kind])))];
}

/** A longer one is neither a sentence nor an answer: speech without full stops, or numbers. */
const MAX_SENTENCE_CHARACTERS = 1000;
const SEGMENTER = new Intl.Segmenter("en", { granularity: "sentence" });

/** Splits a text at sentence boundaries (UAX #29), but not after "Mr." and the like. */
function splitSentences(text: string): string[] {
  const sentences: string[] = [];
  for (const { segment } of SEGMENTER.segment(text)) {
    const last = sentences.at(-1);
    if (last !== undefined && !/\d\.\s*$/.test(last) && endsWithAbbreviation(last, segment)) {
      sentences[sentences.length - 1] = last + segment;
    } else sentences.push(segment);
  }
  return sentences
    .map((sentence) => sentence.trim())
    .filter((sentence) => sentence !== "" && sentence.length <= MAX_SENTENCE_CHARACTERS);
}
