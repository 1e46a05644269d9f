import { ANSWER } from "../config.ts";
import type { Evidence } from "../search/evidence.ts";
import type { Hit } from "../search/hits.ts";
import type { Source } from "./sources.ts";
import { foldPlural, tellingWords, wordsOf } from "../search/query.ts";

/** A sentence of the index, word for word, and the hit that it stands in. */
export interface Quote {
  sentence: string;
  hit: Hit;
}

/**
 * The sentences of the evidence that share most words with the question, each from another hit: what
 * can be answered without a generator, and never invented. Empty where no hit is relevant.
 */
export function extractQuotes(question: string, hits: Hit[]): Quote[] {
  const asked = new Set(tellingWords(question).map(foldPlural));
  const quotes = hits.filter(isRelevant).flatMap((hit) => {
    const [best] = sentencesOf(hit)
      .map((sentence) => ({ sentence, hit, overlap: overlap(sentence, asked) }))
      .toSorted((a, b) => b.overlap - a.overlap);
    return best ? [best] : [];
  });
  const said = new Set<string>();
  return quotes
    .toSorted((a, b) => b.overlap - a.overlap || a.hit.rank - b.hit.rank)
    .filter(({ sentence }) => !said.has(sentence) && said.add(sentence))
    .slice(0, ANSWER.sentences);
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

/** Whether a hit says something about the question, and is not only the best of what there is. */
function isRelevant({ evidence }: Pick<Hit, "evidence">): boolean {
  return evidence.some(({ kind, score, text }: Evidence) => {
    if (text !== undefined) return score >= ANSWER.relevantCoverage;
    return kind !== "visual" && score >= ANSWER.relevantCosine; // looks alone say nothing in words
  });
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

/** By Unicode's rules for sentence borders (UAX #29). */
function splitSentences(text: string): string[] {
  const segmenter = new Intl.Segmenter("en", { granularity: "sentence" });
  return [...segmenter.segment(text)].map(({ segment }) => segment.trim()).filter(Boolean);
}

function overlap(sentence: string, asked: Set<string>): number {
  return wordsOf(sentence).filter((word) => asked.has(foldPlural(word))).length;
}
