import { endsWithAbbreviation } from "../text/sentences.ts";
import { trimEndOf } from "../trim-end.ts";

const TIME = String.raw`\d{1,2}(?::\d\d){1,2}`;
const TIMES = String.raw`(?:(?:\s?[,;@|]\s?|\s(?:at\s)?)${TIME}(?:\s?[-–]\s?${TIME})?)?`;
const NUMBERS = String.raw`\d{1,3}(?:\s?(?:[-–,;&]|,?\s?and)\s?\d{1,3}){0,20}`;
const NAMED = String.raw`(?:[Ss]ources?|[Ee]vidence|[Rr]efs?|[Cc]itations?)[\s:#]{0,3}`;
const SQUARE = String.raw`\\?\[{1,2}\s?\^?(?:${NAMED})?${NUMBERS}${TIMES}\s?\\?\]{1,2}`;
const LINKED = String.raw`(?:\([!-'*-~]{0,300}\))?`;
const LENTICULAR = String.raw`【\s?(?:${NAMED})?${NUMBERS}(?:[:†][\w†:#, -]{0,80})?】`;
const ROUND = String.raw`\(\s?${NAMED}${NUMBERS}${TIMES}\s?\)`;

/**
 * Source of a regular expression, without capturing groups, for the ways in which models write
 * markers: `[1]`, `[1, 2]`, `[1-3]`, `[^1]`, `[[1]]`, `\[1\]`, `[source 1]`, `[1, 0:42]`,
 * `[1](address)`, `【1】`, `【1:0†source】`, `(source 1)`. Doesn't match a year, `[2024]`. No marker
 * contains the end of a sentence.
 */
export const MARKER = `(?:${SQUARE}${LINKED}|${LENTICULAR}|${ROUND})`;

/** A sentence of an answer, or a line that structures it. */
export interface AnswerBlock {
  /** `title`: a heading or lead-in ("There are two:"). */
  kind: "sentence" | "title";
  /** The source text, line breaks included. */
  text: string;
  /** Markdown at the start of the line: `## `, `- ` or empty. */
  prefix: string;
  /** A title applies to the following blocks of a higher level. */
  level: number;
  line: number;
  paragraph: number;
}

/** A line that is being parsed. */
interface Line extends Pick<AnswerBlock, "prefix" | "level"> {
  isHeading: boolean;
  /** Whether a sentence of the line was emitted. */
  hasSentence: boolean;
  /** No sentence ends before this offset in the rest of the line. */
  searchFrom: number;
}

/** A line break. Before a lower-case letter it is a space. */
const LINE_END = /\n(?=[^\p{Ll}\uD800-\uDBFF])/u;
const PREFIX = /^[>\s]*(?:(#{1,6})(?:\s+|$)|([-*+•]|\d{1,3}[.)])\s+)?/;
const MAY_BE_PREFIX = /^[>\s]*(?:#{1,6}|[-*+•]|\d{1,3}[.)]?)?$/;
const BOLD = /^(\*\*|__)(?:(?!\1).)*[^\p{STerm}]\1:?$/su;

/**
 * Parses a streamed answer into sentences, however its text is split into chunks. Emits a sentence
 * as soon as it can't change any more. Recognises headings and list items, and removes indentation
 * and the marks of quoted lines.
 */
export class AnswerParser {
  #rest = "";
  #line: Line | null = null;
  #lineCount = 0;
  #paragraphCount = 0;

  /** Yields the blocks that a chunk completes. `isLast` ends the text. */
  *read(chunk: string, isLast: boolean): Generator<AnswerBlock> {
    this.#rest += chunk;
    for (let block = this.#next(isLast); block; block = this.#next(isLast)) yield block;
  }

  /** Returns the next block; null if it may change with more text. */
  #next(isLast: boolean): AnswerBlock | null {
    const text = this.#rest.trimStart();
    const lineEnd = text.search(LINE_END);
    const isWhole = isLast || lineEnd >= 0;
    const line = lineEnd < 0 ? text : text.slice(0, lineEnd);
    if (this.#line) return this.#readSentence(this.#line, line, isWhole);
    if (text === "" || (!isWhole && MAY_BE_PREFIX.test(line.trimEnd()))) return null;
    const [start, marks, bullet] = PREFIX.exec(line)!;
    const gap = this.#rest.slice(0, -text.length).split("\n");
    if (gap.length > 1) this.#lineCount += 1;
    if (gap.length > 2) this.#paragraphCount += 1;
    this.#rest = text.slice(start.length);
    this.#line = {
      prefix: marks || bullet ? `${marks ?? bullet!.replace("•", "-")} ` : "",
      level: marks ? marks.length - 8 : bullet ? gap.at(-1)!.length + 1 : 0,
      isHeading: marks !== undefined,
      hasSentence: false,
      searchFrom: 0,
    };
    return this.#readSentence(this.#line, line.slice(start.length), isWhole);
  }

  /** Reads the next sentence of a line, of which `text` is the rest. */
  #readSentence(line: Line, text: string, isWhole: boolean): AnswerBlock | null {
    const { prefix, level, isHeading, hasSentence, searchFrom } = line;
    const found = findSentenceEnd(text, isWhole, isHeading ? text.length : searchFrom);
    line.searchFrom = found.from;
    if (found.end === null) return null;
    const sentence = text.slice(0, found.end).trim();
    const isLineEnd = isWhole && text.slice(found.end).trim() === "";
    this.#rest = this.#rest.trimStart().slice(found.end);
    this.#line = isLineEnd ? null : { ...line, hasSentence: true, searchFrom: 0 };
    const isBold = isLineEnd && !hasSentence && BOLD.test(sentence);
    const isTitle = isHeading || isBold || (isLineEnd && /:[\s*_]*$/.test(sentence));
    return {
      kind: isTitle ? "title" : "sentence",
      text: isHeading ? trimEndOf(sentence, /[\s#]/) : sentence,
      prefix,
      level: isBold && prefix === "" ? -1 : level,
      line: this.#lineCount,
      paragraph: this.#paragraphCount,
    };
  }
}

// bounded: a reply of at most ANSWER.maxCharacters
const STOP = /[\p{STerm}…]+["'”’»)\]*_~`」』]*/gu;
// bounded: a reply of at most ANSWER.maxCharacters
const MARKERS = new RegExp(
  String.raw`(?:\s*(?:[,;&]\s*)?[*_\x60]{0,3}${MARKER}[*_\x60]{0,3}){1,20}`,
  "uy",
);
const MARKED = new RegExp(String.raw`${MARKER}[*_\x60)\s]*$`, "u");
const LEADING_MARKER = new RegExp(`^${MARKER}`, "u");
const FULL_WIDTH = /[。！？｡．][^\p{STerm}]{0,9}$/u;
const UNFINISHED_MARKER = /^(?:\\$|\\?\[[^\]]*$|【[^】]*$|\([^)]*$|[\uD800-\uDBFF]$)/u;
/** Number of characters before a stop that are inspected for a marker. */
const CONTEXT_LENGTH = 400;

/**
 * Finds the end of the first sentence of a line, after the markers that follow the sentence; null
 * if it is still undecided. `isWhole`: no more text follows. Before `from` no sentence ends. The
 * result for a text doesn't change when more text is appended, so a streamed text is split like the
 * whole.
 *
 * Intl.Segmenter doesn't guarantee that: by UAX #29 a lower-case letter far ahead can undo the end
 * of a sentence (SB8). It also splits in markers and in URLs.
 *
 * A sentence ends with a terminator (Unicode's Sentence_Terminal, "…") and white space. It doesn't
 * end after an abbreviation, before a lower-case letter or inside a quotation, unless a marker
 * follows: no sentence continues after a marker. If the text starts with a marker, markers are
 * assumed to precede their sentences.
 */
export function findSentenceEnd(
  text: string,
  isWhole: boolean,
  from: number,
): { end: number | null; from: number } {
  let checked = from;
  STOP.lastIndex = from;
  for (const { 0: stop, index } of text.matchAll(STOP)) {
    const stopEnd = index + stop.length;
    MARKERS.lastIndex = stopEnd;
    const end = stopEnd + (MARKERS.exec(text)?.[0].length ?? 0);
    const gap = /^\s*/.exec(text.slice(end))![0];
    const next = text.slice(end + gap.length);
    const follows = next.replace(/^(?:[,;&]\s*)?[*_`]{0,3}/, "");
    if (follows === "" || (!isWhole && UNFINISHED_MARKER.test(follows))) break;
    if (isEnd(text.slice(0, stopEnd), end > stopEnd, gap, next)) {
      return { end: LEADING_MARKER.test(text) ? stopEnd : end, from: checked };
    }
    checked = stopEnd;
  }
  return { end: isWhole ? text.length : null, from: checked };
}

/** Tests whether the terminator at the end of `before` ends a sentence. */
function isEnd(before: string, isFollowed: boolean, gap: string, next: string): boolean {
  if (/^[,;:&]/.test(next)) return false;
  if (gap === "" && !isFollowed && !FULL_WIDTH.test(before)) return false;
  const isMarked =
    isFollowed || MARKED.test(trimEndOf(before.slice(-CONTEXT_LENGTH), /[\p{STerm}…]/u));
  if (isMarked) return true;
  if (/^\p{Ll}/u.test(next) || endsWithAbbreviation(before, next)) return false;
  return findQuotations(before).every(({ isClosed }) => isClosed);
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
  // bounded: a reply of at most ANSWER.maxCharacters
  /(?<!«[^»]*)»([^«»]+)(«)/gu,
  /«([^»]*)(»)?/gu,
  /「([^」]*)(」)?/gu,
  /(?<![\p{L}\p{N}])"([^"]*)(")?/gu,
  /(?<![\p{L}\p{N}])‘((?:[^’]|’(?=\p{L}))*)(’)?/gu,
  // bounded: a reply of at most ANSWER.maxCharacters
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

// bounded: a reply of at most ANSWER.maxCharacters
const RUN = new RegExp(String.raw`\s*${MARKER}(?:(?:\s|[,;&]|\band\b)*${MARKER})*`, "gu");
// bounded: a reply of at most ANSWER.maxCharacters
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
    bare: text.replaceAll(new RegExp(` ?${CLEAN}`, "g"), ""),
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
