import { MAX_MARKER_LENGTH, MARKER } from "./citation-markers.ts";
import { findQuotations } from "./quotation-marks.ts";

/**
 * Abbreviations whose full stop ends no sentence: titles, initials, "U.S.", German ordinals ("3.").
 */
const ABBREVIATION =
  /(?:^|[\s("“'*_-])(?:Mrs?|Ms|Mme|Dra?|Hr|Fr|Profs?|St|Mt|Sra?|Jr|Gen|Sen|Rep|Gov|Lt|Col|Sgt|Capt|Inc|Ltd|Corp|Nr|Fig|vs|approx|ca|cf|bzw|Jan|Feb|Mar|Apr|Aug|Sept?|Oct|Nov|Dec|(?:\p{L}\.)+\p{L}|\p{L}|\d{1,2}|Nos?(?=\.\d))\..$/su;

const STOP = new RegExp(String.raw`(?<stop>[\p{STerm}…]+["'”’»)\]*_~\x60」』]*)|${MARKER}`, "gu");
const MARKERS = new RegExp(
  String.raw`(?:\s*(?:[,;&]\s*)?[*_\x60]{0,3}${MARKER}[*_\x60]{0,3})+`,
  "uy",
);
const MARKED = new RegExp(String.raw`${MARKER}[*_\x60)\s]*$`, "u");
const LEADING = new RegExp(`^\\s*${MARKER}`, "u");
const FULL_WIDTH = /[。！？｡．][^\p{STerm}]{0,9}$/u;
/** Number of characters before a stop that are inspected. */
const CONTEXT_LENGTH = 400;
const UNFINISHED_MARKER = new RegExp(
  String.raw`^(?:\\$|\\?\[[^\]]{0,${MAX_MARKER_LENGTH}}$|【[^】]{0,${MAX_MARKER_LENGTH}}$|\([^)]{0,${MAX_MARKER_LENGTH}}$|<(?:s(?:up?)?)?$|<sup>(?:(?!<\/sup>)[^]){0,${MAX_MARKER_LENGTH}}$|[\uD800-\uDBFF]$)`,
  "u",
);

/** Offset of the end of a sentence. If that is still undecided, the end isn't before `from`. */
export type SentenceEnd = { end: number } | { end: null; from: number };

/**
 * Finds the end of the first sentence of running text, after the markers that follow the sentence.
 * The result for a text doesn't change when more text is appended, so a streamed text is split like
 * the whole. `isWhole`: no more text follows. `from`: the result for a shorter prefix.
 *
 * Intl.Segmenter doesn't guarantee that: by UAX #29 a lower-case letter far ahead can undo the end
 * of a sentence (SB8). It also splits at "Mr.", in markers and in URLs.
 *
 * A sentence ends with a terminator (Unicode's Sentence_Terminal, "…") and white space, or with a
 * marker and a line break. It doesn't end after an abbreviation, before a lower-case letter or
 * inside a quotation, unless a marker follows: no sentence continues after a marker. If the text
 * starts with a marker, markers are assumed to precede their sentences.
 */
export function findSentenceEnd(text: string, isWhole: boolean, from: number): SentenceEnd {
  let checked = from;
  STOP.lastIndex = from;
  for (let match = STOP.exec(text); match; match = STOP.exec(text)) {
    const stopEnd = match.index + match[0].length;
    MARKERS.lastIndex = stopEnd;
    const end = stopEnd + (MARKERS.exec(text)?.[0].length ?? 0);
    const gap = /^\s*/.exec(text.slice(end))?.[0] ?? "";
    const next = text.slice(end + gap.length);
    const follows = next.replace(/^(?:[,;&]\s*)?[*_`]{0,3}/, "");
    if (follows === "" || (!isWhole && UNFINISHED_MARKER.test(follows))) break;
    const isStop = match.groups?.["stop"] !== undefined;
    const before = text.slice(0, stopEnd);
    if (isStop ? isEnd(before, end > stopEnd, gap, next) : isEndOfLine(match.index, gap, next)) {
      return { end: isStop && LEADING.test(text) ? stopEnd : end };
    }
    checked = stopEnd;
    STOP.lastIndex = stopEnd;
  }
  return isWhole ? { end: text.length } : { end: null, from: checked };
}

/** Tests whether a text ends with an abbreviation that `next` continues: "Mr.", "U.S.". */
export function endsWithAbbreviation(text: string, next: string): boolean {
  return ABBREVIATION.test(text.slice(-CONTEXT_LENGTH).trimEnd() + next.charAt(0));
}

/** Tests whether the terminator at the end of `before` ends a sentence. */
function isEnd(before: string, isFollowed: boolean, gap: string, next: string): boolean {
  if (/^[,;:&]/.test(next)) return false;
  if (gap === "" && !isFollowed && !FULL_WIDTH.test(before)) return false;
  const isMarked =
    isFollowed || MARKED.test(before.slice(-CONTEXT_LENGTH).replace(/[\p{STerm}…]+$/u, ""));
  if (isMarked) return true;
  if (/^\p{Ll}/u.test(next) || endsWithAbbreviation(before, next)) return false;
  return findQuotations(before).every(({ isClosed }) => isClosed);
}

/** Tests whether a marker at the end of a line ends a sentence without a terminator. */
function isEndOfLine(at: number, gap: string, next: string): boolean {
  return gap.includes("\n") && at > 0 && !/^[,;:&\p{Ll}]/u.test(next);
}
