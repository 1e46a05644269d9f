import { ANSWER } from "../config.ts";
import type { Hit } from "../search/hits.ts";
import type { Source } from "./sources.ts";
import { tellingWords, wordsOf } from "../search/query.ts";
import { Terms } from "../search/terms.ts";

/** A sentence of the index, word for word, and the hit that it stands in. */
export interface Quote {
  sentence: string;
  hit: Hit;
}

/**
 * The sentences of the evidence that hold nearly all of what the question says, and all of its names,
 * each from another hit: what can be answered without a generator, and never invented. Only the best,
 * and those that are nearly as good.
 */
export function extractQuotes(question: string, hits: Hit[]): Quote[] {
  const content = new Terms(contentWords(question));
  const names = new Terms(namesIn(question));
  const quotes = hits.flatMap((hit) => {
    const [best] = sentencesOf(hit)
      .map((sentence) => ({ sentence, hit, share: shareIn(sentence, content) }))
      .filter(({ sentence, share }) => {
        return share >= ANSWER.toldShare && shareIn(sentence, names) === 1;
      })
      .toSorted((a, b) => b.share - a.share);
    return best ? [best] : [];
  });
  const sorted = quotes.toSorted((a, b) => b.share - a.share || a.hit.rank - b.hit.rank);
  const said = new Set<string>();
  return sorted
    .filter(({ share }) => share >= ANSWER.nearlyAsGood * sorted[0]!.share)
    .filter(({ sentence }) => !said.has(sentence) && said.add(sentence))
    .slice(0, ANSWER.sentences);
}

/** The share of the terms that a sentence holds; 1 where there are none. */
function shareIn(sentence: string, terms: Terms): number {
  if (terms.count === 0) return 1;
  return new Set(terms.findIn(sentence).map(({ term }) => term)).size / terms.count;
}

/** What an answer is the value of: "how long", "which colour", "what kind of": a statement needn't say it. */
const ASKED_FOR =
  /\b(?:how|(?:which|what)(?:\s+(?<kind>kind|sort|type)s?\s+of)?)\s+(?<word>[\p{L}\p{M}]+)/giu;
/** So many words must be left, so that there is a thing and something about it. */
const LEAST_WORDS = 2;

/** The words of a question that a sentence must hold to answer it. */
function contentWords(question: string): string[] {
  const telling = tellingWords(question);
  const specific = telling.filter((word) => !GENERAL.has(word));
  const asked = new Set(
    [...question.matchAll(ASKED_FOR)].flatMap(({ groups }) =>
      wordsOf(`${groups?.["kind"] ?? ""} ${groups?.["word"] ?? ""}`),
    ),
  );
  const stated = specific.filter((word) => !asked.has(word));
  if (stated.length >= LEAST_WORDS) return stated;
  return specific.length > 0 ? specific : telling;
}

/** Words with a capital letter that doesn't begin a sentence, and numbers. */
function namesIn(question: string): string[] {
  const names = question.matchAll(
    /(?<=[^\s.?!]\s+["“'(]?)(?:\p{Lu}[\p{L}\p{M}'’-]*|\p{N}[\p{N}.,:]*)/gu,
  );
  return [...names].flatMap(([name]) => wordsOf(name));
}

/** Words that ask what there is, whatever it is. */
const GENERAL = new Set(
  `about content describe explain going happen happened happening happens here going look overview part
   say said saying says scene see seen show shown shows story summarise summarize summary take talk
   talked talking talks tell tells thing things video videos watch`.split(/\s+/),
);

/** Whether a question asks what there is ("What happens here?"), and names nothing. */
export function asksForAll(question: string): boolean {
  return tellingWords(question).every((word) => GENERAL.has(word));
}

/** What a few of the sources, evenly chosen, say, have written on them or show: a sentence each. */
export function quotesOf(sources: readonly Source[]): Quote[] {
  const told = sources.flatMap(({ hit, said, written, shown }) => {
    const [sentence] = splitSentences(said || written || shown);
    return sentence === undefined ? [] : [{ sentence, hit }];
  });
  const step = Math.max(1, told.length / ANSWER.sentences);
  const some = told.filter((_, i) => i % step < 1);
  return [...new Map(some.map((quote) => [quote.sentence, quote])).values()];
}

/** The evidence that was found first: spoken and written words before our own captions. */
function sentencesOf({ segment, evidence }: Hit): string[] {
  const sources = {
    speech: segment.transcript,
    text: segment.onScreenText.replaceAll("\n", " "),
    caption: segment.caption,
    visual: segment.caption,
  };
  const kinds = new Set(evidence.map(({ kind }) => kind));
  return [...kinds].flatMap((kind) => splitSentences(sources[kind]));
}

const SEGMENTER = new Intl.Segmenter("en", { granularity: "sentence" });

/** By Unicode's rules for sentence borders (UAX #29). */
function splitSentences(text: string): string[] {
  return [...SEGMENTER.segment(text)].map(({ segment }) => segment.trim()).filter(Boolean);
}
