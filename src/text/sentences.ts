import type { Segment } from "../types.ts";

/**
 * Abbreviations whose full stop ends no sentence: titles, initials, "U.S.", German ordinals ("3.").
 */
const ABBREVIATION =
  /(?:^|[\s("“'*_-])(?:Mrs?|Ms|Mme|Dra?|Hr|Fr|Profs?|St|Mt|Sra?|Jr|Gen|Sen|Rep|Gov|Lt|Col|Sgt|Capt|Inc|Ltd|Corp|Nr|Fig|Vol|Abb|Bd|Kap|geb|gest|vs|approx|ca|cf|bzw|Jan|Feb|Mar|Apr|Aug|Sept?|Oct|Nov|Dec|(?:\p{L}\.)+\p{L}|\p{L}|\d{1,2}|Nos?(?=\.\d))\..$/su;
/** Number of characters before a stop that are inspected. */
const CONTEXT_LENGTH = 400;

/** Tests whether a text ends with an abbreviation that `next` continues: "Mr.", "U.S.". */
export function endsWithAbbreviation(text: string, next: string): boolean {
  return ABBREVIATION.test(text.slice(-CONTEXT_LENGTH).trimEnd() + next.charAt(0));
}

/** A German ordinal number: "am 9.", "der 2.", or one before the name of a month. */
const ORDINAL = /(?<!\p{L})(?:am|vom|zum|im|beim|bis|de[rmns]|die|das)\s\d{1,2}\.\s*$/iu;
const MONTH = /^(?:Jan|Jän|Feb|Mär|Apr|Mai|Jun|Jul|Aug|Sep|Okt|Nov|Dez)/u;

const SEGMENTER = new Intl.Segmenter("en", { granularity: "sentence" });

/**
 * Splits a text at line breaks and at sentence boundaries (UAX #29), but not after "Mr." and the
 * like. No sentence is empty.
 */
export function splitSentences(text: string): string[] {
  const sentences: string[][] = [];
  let last = "\n";
  // A line break ends a sentence (SB4). A call for each line would take far longer.
  for (const segment of segmentsOf(text)) {
    const isNumber = /\d\.[ \u00A0]*$/.test(last);
    const isOrdinal = isNumber && (MONTH.test(segment) || ORDINAL.test(last));
    const isEnd = isNumber || /[\n\r]$/.test(last) || !endsWithAbbreviation(last, segment);
    if (isEnd && !isOrdinal) sentences.push([segment]);
    else sentences.at(-1)!.push(segment);
    last = segment;
  }
  return sentences.map((parts) => parts.join("").trim()).filter(Boolean);
}

/** Where a sentence ends though a lower-case letter follows later (SB8): before "1912 new roof". */
const BEFORE_NO_LETTER = /(?<=\p{L}{2}[.!?…]\s)(?=[^\s\p{L}])/u;

function segmentsOf(text: string): string[] {
  const segments = Array.from(SEGMENTER.segment(text), ({ segment }) => segment);
  return segments.flatMap((segment) => segment.split(BEFORE_NO_LETTER));
}

/** Characters of a neighbour's sentence that are kept: speech may have no full stops. */
const MAX_NEIGHBOUR = 160;

/** Tests whether a text ends with the end of a sentence. */
export function endsSentence(text: string): boolean {
  return /[.!?…。！？｡؟۔।]["'”’»)\]]*$/u.test(text);
}

/** Tests whether a text has the end of a sentence: automatic captions have none. */
export function hasSentenceEnd(text: string): boolean {
  return /[.!?…。！？｡؟۔।]/u.test(text);
}

/**
 * Returns the last sentence of the text before, and the rest of a sentence that goes on in the text
 * after; empty if there is none.
 */
export function neighbourSentences(before: string, text: string, after: string) {
  if (text === "") return { speechBefore: "", speechAfter: "" };
  const end = before.slice(-MAX_NEIGHBOUR);
  const start = after.slice(0, MAX_NEIGHBOUR);
  const lastWords = end === before ? end : end.replace(/^\S*\s/u, "");
  const firstWords = start === after ? start : start.replace(/\s\S*$/u, "");
  return {
    speechBefore: splitSentences(lastWords).at(-1) ?? "",
    speechAfter: endsSentence(text) ? "" : (splitSentences(firstWords)[0] ?? ""),
  };
}

/** Returns what is said in a segment, with the whole of its first and its last sentence. */
export function speechOf(segment: Pick<Segment, "speechBefore" | "transcript" | "speechAfter">) {
  const { speechBefore, transcript, speechAfter } = segment;
  const start = endsSentence(speechBefore) ? "" : speechBefore;
  return [start, transcript, speechAfter].filter(Boolean).join(" ");
}
