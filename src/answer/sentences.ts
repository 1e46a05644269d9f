/** Maximum length of a marker: a longer text after an open bracket isn't a marker. */
const MAX_MARKER_LENGTH = 2000;

const TIME = String.raw`\d{1,2}(?::\d\d){1,2}`;
const TIMES = String.raw`(?:(?:\s?[,;@|]\s?|\s(?:at\s)?)${TIME}(?:\s?[-–]\s?${TIME})?)?`;
const NUMBERS = String.raw`\d{1,3}(?:\s?(?:[-–,;&]|,?\s?and)\s?\d{1,3}){0,20}`;
const NAMED = String.raw`(?:[Ss]ources?|[Ee]vidence|[Rr]efs?|[Cc]itations?)[\s:#]{0,3}`;
const SQUARE = String.raw`\\?\[{1,2}\s?\^?(?:${NAMED})?${NUMBERS}${TIMES}\s?\\?\]{1,2}`;
const LINKED = String.raw`(?:\([!-'*-~]{0,300}\))?`;
const LENTICULAR = String.raw`【\s?(?:${NAMED})?${NUMBERS}(?:[:†][\w†:#, -]{0,80})?】`;
const SEVERAL = String.raw`${SQUARE}(?:[\s,;&]{0,2}${SQUARE}){0,5}`;
const ROUND = String.raw`\(\s?(?:(?:[Ss]ee\s)?${SEVERAL}|${NAMED}${NUMBERS}${TIMES})\s?\)`;
const RAISED = String.raw`<sup>\s?(?:${SEVERAL}|${NUMBERS})\s?<\/sup>`;

/**
 * Source of a regular expression, without capturing groups, for the ways in which models write
 * markers: `[1]`, `[1, 2]`, `[1-3]`, `[^1]`, `[[1]]`, `\[1\]`, `[source 1]`, `[1, 0:42]`,
 * `[1](address)`, `【1】`, `【1:0†source】`, `(source 1)`, `(see [1])`, `<sup>1</sup>`. Doesn't match a
 * year, `[2024]`. No marker contains the end of a sentence.
 */
export const MARKER = `(?:${SQUARE}${LINKED}|${LENTICULAR}|${ROUND}|${RAISED})`;

const RUN = new RegExp(String.raw`\s*${MARKER}(?:(?:\s|[,;&]|\band\b)*${MARKER})*`, "gu");
const NOT_NUMBERS = new RegExp(String.raw`\]\([^)]*\)|(?<=\d)[:†][^】\]]*】|${TIME}`, "gu");
const CLEAN = String.raw`\[\d{1,3}\]`;
const EMPHASISED = new RegExp(
  String.raw`([*_\x60]{1,3})\s*((?:${CLEAN})+)\s*\1|\*{4,}|_{4,}`,
  "gu",
);
const LEADING = new RegExp(String.raw`^((?:${CLEAN})+)[\s:–-]*(?=[^\s\p{Ll}])`, "u");
const CLOSING = new RegExp(String.raw`(?:${CLEAN}|[\p{STerm}…\s,;&"'”’»)\]*_~\x60】」』])+`, "gu");
const NOUN_NEXT = /(?<!\p{L})(?:and|at|by|evidence|from|in|of|or|per|see|sources?|to|with)$/iu;

/** A sentence whose markers are written as `[1][2]`. */
export interface NormalizedSentence {
  text: string;
  /** The text without markers. */
  bare: string;
  /** Marker numbers in the order of the text. */
  markers: number[];
}

/**
 * Writes the markers of a sentence as `[1][2]`, without duplicates and unknown ones. Moves markers
 * at the start and the end after the last punctuation mark. A marker inside the sentence stays
 * with its clause, and so does one that is used as a noun ("as shown in [1]."). Collapses white
 * space.
 */
export function normalizeMarkers(sentence: string, known: Iterable<number>): NormalizedSentence {
  const knownNumbers = [...known];
  const used = new Set<number>();
  const clean = sentence
    .replaceAll(/\s+/g, " ")
    .replaceAll(RUN, (run, at: number) => {
      const numbers = numbersIn(run, knownNumbers).filter((n) => !used.has(n));
      for (const n of numbers) used.add(n);
      const markers = formatMarkers(numbers);
      return numbers.length > 0 && at > 0 ? ` ${markers}` : markers;
    })
    .replaceAll(EMPHASISED, "$2")
    .replaceAll(/(?<=\[\d{1,3}\])(?=[\p{L}\p{N}])/gu, " ")
    .replaceAll(/\s+/g, " ")
    .trim();
  const text = moveToEnd(clean);
  return {
    text,
    bare: text.replaceAll(new RegExp(String.raw`\s*${CLEAN}`, "g"), ""),
    markers: markersIn(text),
  };
}

/** Returns the markers of a normalised text. */
function markersIn(text: string): number[] {
  return [...text.matchAll(/\[(\d{1,3})\]/g)].map(([, digits]) => Number(digits));
}

function moveToEnd(sentence: string): string {
  const [lead = "", leading = ""] = LEADING.exec(sentence) ?? [];
  const rest = sentence.slice(lead.length);
  const ending = endingOf(rest);
  const body = rest.slice(0, rest.length - ending.length);
  const markers = leading + formatMarkers(markersIn(ending));
  if (markers === "") return sentence;
  const closing = ending.replaceAll(/\[\d{1,3}\]|[\s,;&]/g, "");
  if (/^\s*\[\d/.test(ending) && NOUN_NEXT.test(body)) return `${body} ${markers}${closing}`;
  return `${body}${closing} ${markers}`.trim();
}

function endingOf(sentence: string): string {
  const last = [...sentence.matchAll(CLOSING)].at(-1);
  return last && last.index + last[0].length === sentence.length ? last[0] : "";
}

function numbersIn(run: string, known: number[]): number[] {
  const ranges = [
    ...run.replaceAll(NOT_NUMBERS, "]").matchAll(/(\d{1,3})(?:\s?[-–]\s?(\d{1,3}))?/g),
  ];
  return ranges
    .flatMap(([, from, to]) => {
      if (to === undefined) return [Number(from)];
      return known.filter((n) => n >= Number(from) && n <= Number(to)).sort((a, b) => a - b);
    })
    .filter((n, i, all) => known.includes(n) && all.indexOf(n) === i);
}

function formatMarkers(markers: number[]): string {
  return markers.map((n) => `[${n}]`).join("");
}

/** The text between quotation marks. */
export interface Quotation {
  text: string;
  /** False if the closing mark is missing. */
  isClosed: boolean;
}

/** Tried in this order: a mark that closes in one language opens in another. */
const STYLES = [
  /„([^“”]*)([“”])?/gu,
  /“([^”]*)(”)?/gu,
  /”([^”]+)(”)/gu,
  /(?<!«[^»]*)»([^«»]+)(«)/gu,
  /«([^»]*)(»)?/gu,
  /「([^」]*)(」)?/gu,
  /(?<![\p{L}\p{N}])"([^"]*)(")?/gu,
  /(?<![\p{L}\p{N}])‘((?:[^’]|’(?=\p{L}))*)(’)?/gu,
  /(?<![\p{L}\p{N}])'(.+?)(')(?![\p{L}\p{N}])/gu,
];

/** Finds quotations; apostrophes, inch and minute marks are none. */
export function findQuotations(text: string): Quotation[] {
  const quotations: Quotation[] = [];
  let rest = text;
  for (const style of STYLES) {
    rest = rest.replaceAll(style, (_, quoted: string, end?: string) => {
      quotations.push({ text: quoted, isClosed: end !== undefined });
      return " ";
    });
  }
  return quotations;
}

/**
 * Abbreviations whose full stop ends no sentence: titles, initials, "U.S.", German ordinals ("3.").
 */
const ABBREVIATION =
  /(?:^|[\s("“'*_-])(?:Mrs?|Ms|Mme|Dra?|Hr|Fr|Profs?|St|Mt|Sra?|Jr|Gen|Sen|Rep|Gov|Lt|Col|Sgt|Capt|Inc|Ltd|Corp|Nr|Fig|vs|approx|ca|cf|bzw|Jan|Feb|Mar|Apr|Aug|Sept?|Oct|Nov|Dec|(?:\p{L}\.)+\p{L}|\p{L}|\d{1,2}|Nos?(?=\.\d))\..$/su;

const STOP = new RegExp(String.raw`(?<stop>[\p{STerm}…]+["'”’»)\]*_~\x60」』]*)|${MARKER}`, "gu");
const MARKERS = new RegExp(
  String.raw`(?:\s*(?:[,;&]\s*)?[*_\x60]{0,3}${MARKER}[*_\x60]{0,3}){1,20}`,
  "uy",
);
const MARKED = new RegExp(String.raw`${MARKER}[*_\x60)\s]*$`, "u");
const LEADING_MARKER = new RegExp(`^\\s*${MARKER}`, "u");
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
      return { end: isStop && LEADING_MARKER.test(text) ? stopEnd : end };
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
