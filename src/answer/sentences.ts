import { LONGEST_MARKER, MARKER } from "./markers.ts";
import { quotationsIn } from "./quotes.ts";

/** After these a full stop ends no sentence: titles, initials, "U.S.", ordinals of other languages. */
const SHORTENED =
  /(?:^|[\s("“'*_-])(?:Mrs?|Ms|Mme|Dra?|Hr|Fr|Profs?|St|Mt|Sra?|Jr|Gen|Sen|Rep|Gov|Lt|Col|Sgt|Capt|Inc|Ltd|Corp|Nr|Fig|vs|approx|ca|cf|bzw|Jan|Feb|Mar|Apr|Aug|Sept?|Oct|Nov|Dec|(?:\p{L}\.)+\p{L}|\p{L}|\d{1,2}|Nos?(?=\.\d))\..$/su;

const STOP = new RegExp(String.raw`(?<stop>[\p{STerm}…]+["'”’»)\]*_~\x60」』]*)|${MARKER}`, "gu");
const MARKERS = new RegExp(
  String.raw`(?:\s*(?:[,;&]\s*)?[*_\x60]{0,3}${MARKER}[*_\x60]{0,3})+`,
  "uy",
);
const MARKED = new RegExp(String.raw`${MARKER}[*_\x60)\s]*$`, "u");
const LEADING = new RegExp(`^\\s*${MARKER}`, "u");
const FULL_WIDTH = /[。！？｡．][^\p{STerm}]{0,9}$/u;
const LOOK_BACK = 400;
const UNFINISHED_MARKER = new RegExp(
  String.raw`^(?:\\$|\\?\[[^\]]{0,${LONGEST_MARKER}}$|【[^】]{0,${LONGEST_MARKER}}$|\([^)]{0,${LONGEST_MARKER}}$|<(?:s(?:up?)?)?$|<sup>(?:(?!<\/sup>)[^]){0,${LONGEST_MARKER}}$|[\uD800-\uDBFF]$)`,
  "u",
);

/** Where a sentence ends; null: not told yet, and up to `from` it surely doesn't. */
export type SentenceEnd = { end: number } | { end: null; from: number };

/**
 * Where the first sentence of a text of running words ends, after the markers that follow it. Never
 * answers otherwise for the text and more of it: what is read in pieces is cut as the whole would be.
 * `isWhole`: nothing follows; `from`: what the answer for less of the text was.
 *
 * Intl.Segmenter does not hold that promise: by UAX #29 a lower-case letter far ahead can undo the end
 * of a sentence (SB8). It also takes "Mr." for an end, and breaks markers and addresses.
 *
 * An end is a terminator (Unicode's Sentence_Terminal, "…") and white space, or a marker and a line
 * break; not after an abbreviation, before a lower-case letter or inside a quotation, unless there is
 * a marker, which no sentence goes on after. Where the text starts with a marker, markers are taken to
 * stand before their sentences.
 */
export function endOfSentence(text: string, isWhole: boolean, from: number): SentenceEnd {
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

/** Whether a terminator at the end of `before` is one of a sentence. */
function isEnd(before: string, isFollowed: boolean, gap: string, next: string): boolean {
  if (/^[,;:&]/.test(next)) return false;
  if (gap === "" && !isFollowed && !FULL_WIDTH.test(before)) return false;
  const isMarked =
    isFollowed || MARKED.test(before.slice(-LOOK_BACK).replace(/[\p{STerm}…]+$/u, ""));
  if (isMarked) return true;
  if (/^\p{Ll}/u.test(next) || SHORTENED.test(before.slice(-LOOK_BACK) + next.charAt(0)))
    return false;
  return quotationsIn(before).every(({ isClosed }) => isClosed);
}

/** Whether a sentence that ends without a terminator does so at a marker. */
function isEndOfLine(at: number, gap: string, next: string): boolean {
  return gap.includes("\n") && at > 0 && !/^[,;:&\p{Ll}]/u.test(next);
}
