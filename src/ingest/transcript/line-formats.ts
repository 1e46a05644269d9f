import { LIMITS } from "../../config.ts";
import { NOMINAL_FPS } from "../../cues.ts";
import type { Cue } from "../../types.ts";
import {
  cleanAssText,
  cleanSrtText,
  parseMediaTime,
  type ParsedCues,
  splitLines,
} from "./cue-text.ts";

/*
 * Formats with a cue on each line: Whisper's TSV and CSV, Audacity's labels, MPL2, MicroDVD, ASS,
 * lines that begin with start and end, and lines that begin with a time (LRC, TMPlayer, notes with
 * times). SBV and SubViewer have a line of times before the text, notes of a talk one of a speaker
 * and a time.
 */

/** A line that isn't blank, with its number from 1. */
interface TextLine {
  number: number;
  text: string;
}

interface LineFormat {
  name: string;
  pattern: RegExp;
  parse: (lines: TextLine[], pattern: RegExp) => ParsedCues;
  /** Share of lines in the format, of those with text, above which a file is in it. */
  minShare?: number;
}

/** A time, which is read in one way only. */
const TIME = String.raw`-?\d{1,3}:\d{1,2}(?::\d{1,2}(?:[.,:]\d{1,3})?|[.,]\d{1,3}|:\d{3})?`;
const TSV_LINE = /^(-?\d+(?:\.\d+)?)\t(-?\d+(?:\.\d+)?)(?:\t(.*))?$/s;
const TSV_FRACTION = /^(?:-?\d+\t)?-?\d+\./;
const CSV_LINE = /^(\d+),\s?(\d+),\s?(.*)$/s;
const MICRODVD_LINE = /^\{(\d+)\}\{(\d*)\}(.*)$/s;
const MPL2_LINE = /^\[(\d+)\]\[(\d*)\](.*)$/s;
const SBV_LINE = new RegExp(String.raw`^(${TIME})\s?[,–—-]\s?(${TIME})$`);
/** A line of start, end and text, which may be numbered. */
const RANGE_LINE = new RegExp(
  String.raw`^(?:\d{1,5}[\t,;|])?(${TIME})[\t ,;|–—>-]{1,9}(${TIME})[\t ,;:|-]{1,9}(\S.*)$`,
  "s",
);
/** A line that names who speaks from a time on: `Ann Lee  0:03`, `Ann Lee (00:03):`. */
const SPEAKER_LINE = new RegExp(
  String.raw`^[^.!?]{1,61}?(?:\t|\s{2}|\s?[(\[])\s{0,9}(${TIME})[)\]]?:?$`,
);
/** A line that begins with a time, or with several of them in square brackets. */
const STAMPED_LINE = new RegExp(
  String.raw`^(?:((?:\[${TIME}\]\s?)+)|[(<]${TIME}[)>]|${TIME}(?:,\d+)?(?=[\s:=]|$))[:=\s-]*(.*)$`,
  "s",
);
const STAMP = new RegExp(TIME, "g");
const LRC_TAG = /^\[(?:[a-z#]{1,12}):([^\]]*)\]$/i;
const HEADER = /^(?:start|begin)([\t,])\s?end[\t,]\s?text$/i;

const FORMATS: readonly LineFormat[] = [
  {
    name: "TSV",
    pattern: TSV_LINE,
    parse: (lines, pattern) => {
      const isInSeconds = lines.some(({ text }) => TSV_FRACTION.test(text));
      return parseRows(lines, pattern, { perSecond: isInSeconds ? 1 : 1000 });
    },
  },
  {
    name: "CSV",
    pattern: CSV_LINE,
    parse: (lines, pattern) => parseRows(lines, pattern, { perSecond: 1000, toText: unquote }),
  },
  { name: "MicroDVD", pattern: MICRODVD_LINE, parse: parseMicroDvd },
  {
    name: "MPL2", // a slash before a line makes it italic
    pattern: MPL2_LINE,
    parse: (lines, pattern) => {
      const toText = (text: string) => splitBars(text.replaceAll(/(^|\|)\s{0,9}[/_\\]/g, "$1"));
      return parseRows(lines, pattern, { perSecond: 10, toText });
    },
  },
  // Cues of SBV have lines of text.
  { name: "SBV", pattern: SBV_LINE, parse: parseSbv, minShare: 0.15 },
  {
    name: "lines with start and end",
    pattern: RANGE_LINE,
    parse: (lines, pattern) =>
      parseRows(lines, pattern, { toSeconds: parseMediaTime, toText: splitBars }),
  },
  { name: "LRC or TMPlayer", pattern: STAMPED_LINE, parse: parseStamped },
];

/** A line that says something about the file: `[ti:Ferry]`, `[INFORMATION]`, `[TITLE]x`. */
const TAG = /^\[[a-z][a-z ]{0,20}[\]:]/i;
const MIN_SHARE = 0.4;

/** Parses a file of one of the formats above but ASS; null for any other. */
export function parseLineFormat(text: string): ParsedCues | null {
  const lines = splitLines(text)
    .map((line, i) => ({ number: i + 1, text: line.trim() }))
    .filter((line) => line.text !== "");
  const separator = HEADER.exec(lines[0]?.text ?? "")?.[1];
  const named = separator && (separator === "\t" ? "TSV" : "CSV");
  const others = lines.filter((line) => TAG.test(line.text)).length;
  const format = FORMATS.find(({ pattern, name, minShare = MIN_SHARE }) => {
    const matching = lines.filter((line) => pattern.test(line.text)).length;
    const isEnough = name === named || matching >= (lines.length - others) * minShare;
    return matching > 0 && isEnough;
  });
  if (format) return format.parse(named ? lines.slice(1) : lines, format.pattern);
  return isBySpeakers(lines) ? parseSpeakers(lines) : null;
}

/** How times and text of a row are read. Times are numbers by default. */
interface RowOptions {
  perSecond?: number;
  toSeconds?: (time: string) => number;
  toText?: (text: string) => string;
}

/** Parses lines of start, end and text, which are the groups of `pattern`. */
function parseRows(
  lines: TextLine[],
  pattern: RegExp,
  { perSecond = 1, toSeconds = toNumber, toText = (text) => text }: RowOptions,
): ParsedCues {
  const cues: Cue[] = [];
  const badLines: number[] = [];
  for (const { number, text: line } of lines) {
    const [, start, end, text = ""] = pattern.exec(line) ?? [];
    if (start === undefined) badLines.push(number);
    else {
      const [from, to] = [toSeconds(start) / perSecond, toSeconds(end!) / perSecond];
      cues.push({ start: from, end: to, text: toText(text) });
    }
  }
  return { cues, badLines };
}

function toNumber(text: string): number {
  return text === "" ? NaN : Number(text);
}

function unquote(column: string): string {
  const text = /^"[^]*"$/.test(column) ? column.slice(1, -1) : column;
  return text.replaceAll('""', '"');
}

const MICRODVD_CODE = /\{[a-z]:[^{}]*\}/gi;
const FRAME_RATE = /^\d{1,3}(?:[.,]\d{1,6})?$/;

/** Parses MicroDVD, whose first line may name the frame rate. */
function parseMicroDvd(lines: TextLine[], pattern: RegExp): ParsedCues {
  const toText = (text: string) => splitBars(text.replaceAll(MICRODVD_CODE, ""));
  const [first] = parseRows(lines, pattern, {}).cues;
  const rate = first!.text.trim();
  const hasRate = first!.start <= 1 && FRAME_RATE.test(rate) && Number.parseFloat(rate) > 0;
  const perSecond = hasRate ? Number(rate.replace(",", ".")) : NOMINAL_FPS;
  const { cues, badLines } = parseRows(lines, pattern, { perSecond, toText });
  return { cues: cues.slice(hasRate ? 1 : 0), badLines, isFrameBased: !hasRate };
}

/** Whether a line of a speaker and a time comes first, and others follow at later times. */
function isBySpeakers(lines: TextLine[]): boolean {
  const times = lines.map(({ text }) => parseMediaTime(SPEAKER_LINE.exec(text)?.[1]));
  const known = times.filter((time) => !Number.isNaN(time));
  const isSorted = known.every((time, i) => i === 0 || time >= known[i - 1]!);
  return !Number.isNaN(times[0]) && known.length > 1 && isSorted;
}

/** Parses what each speaker says from a time on. The speakers' names aren't speech. */
function parseSpeakers(lines: TextLine[]): ParsedCues {
  const cues: Cue[] = [];
  for (const { text } of lines) {
    const time = SPEAKER_LINE.exec(text)?.[1];
    if (time !== undefined) cues.push({ start: parseMediaTime(time), end: NaN, text: "" });
    else cues.at(-1)!.text += `${text}\n`;
  }
  return { cues, badLines: [] };
}

const BAD_SBV_LINE = /^[\s\d:.]{4,20},[\s\d:.]{4,20}$|^\d{1,2}:\d{1,2}:[^\s,]{1,12}\s?,\s?\d/;

/** Parses SBV and SubViewer, whose text follows a line of times. */
function parseSbv(lines: TextLine[]): ParsedCues {
  const cues: Cue[] = [];
  const badLines: number[] = [];
  for (const { number, text } of lines) {
    const [, start, end] = SBV_LINE.exec(text) ?? [];
    const last = cues.at(-1);
    if (start !== undefined) {
      cues.push({ start: parseMediaTime(start), end: parseMediaTime(end), text: "" });
    } else if (BAD_SBV_LINE.test(text)) {
      badLines.push(number);
      const from = parseMediaTime(text.split(",", 1)[0]);
      cues.push({ start: Number.isNaN(from) ? (last?.end ?? 0) : from, end: NaN, text: "" });
    } else if (last) last.text += `${text}\n`;
  }
  for (const cue of cues) cue.text = cleanSrtText(cue.text.replaceAll(/\[br\]/gi, "\n"));
  return { cues, badLines };
}

/** A line that names a part of a song: `[Chorus]`. */
const SECTION_LINE = /^\[[^\]\d][^\]]{0,40}\]$/;
const BAD_STAMP = /^(?:[[(<{]\s*)?\d{0,3}:\d|^\[\D{0,2}\d/;
const WORD_TIME = new RegExp(String.raw`[<\[]${TIME}[>\]]`, "g");

/**
 * Parses lines that begin with times: LRC, also with times of words and an offset, TMPlayer, and
 * notes. Lines without a time belong to the one before, unless they look like one with an error.
 */
function parseStamped(lines: TextLine[]): ParsedCues {
  /** A text, and the times at which it is sung. */
  const blocks: { starts: number[]; text: string }[] = [];
  const badLines: number[] = [];
  let [offset, language]: [number, string | null] = [0, null];
  let latest: (typeof blocks)[number] | null = null;
  for (const { number, text } of lines) {
    const [whole, several, own = ""] = STAMPED_LINE.exec(text) ?? [];
    const tag = LRC_TAG.exec(text)?.[1];
    if (whole !== undefined) {
      // TMPlayer may number the lines of a cue: 00:00:01,2=
      const stamps = text.replace(/^(\d+:\d+:\d+),\d=/, "$1=").match(STAMP)!;
      const count = several?.match(STAMP)!.length ?? 1;
      const starts = stamps.slice(0, count).map(parseMediaTime);
      latest = { starts, text: splitBars(own.replaceAll(WORD_TIME, "")) };
      blocks.push(latest);
    } else if (tag !== undefined) {
      if (/^\[offset:/i.test(text)) offset = Number(tag) / 1000 || 0;
      if (/^\[la(?:ng)?:/i.test(text)) language = tag.trim();
    } else if (SECTION_LINE.test(text)) latest = null;
    else if (BAD_STAMP.test(text)) {
      badLines.push(number);
      latest = null;
    } else if (latest) latest.text += `\n${text}`;
  }
  const cues: Cue[] = [];
  let characters = 0;
  for (const { starts, text } of blocks) {
    for (const start of starts) {
      cues.push({ start: Math.max(0, start - offset), end: NaN, text });
      characters += text.length;
      if (characters > LIMITS.transcriptCharacters) return { cues, badLines, language }; // refused
    }
  }
  // A line without text is there to clear the screen.
  const sorted = cues.toSorted((a, b) => a.start - b.start);
  for (const [i, { start, text }] of sorted.entries()) {
    if (i > 0 && text.trim() === "") sorted[i - 1]!.end = start;
  }
  return { cues, badLines, language };
}

function splitBars(text: string): string {
  return text.replaceAll("|", "\n");
}

const ASS_COLUMNS = "layer,start,end,style,name,marginl,marginr,marginv,effect,text".split(",");
const ASS_SIGNATURE =
  /^[ \t\uFEFF]*(?:\[Script Info\]|Dialogue:[^,\n]{0,40},\s?\d{1,2}:\d{1,2}:)/im;
const ASS_LINE = /^(Format|Dialogue|\[[^\]]*\])\s*:?(.*)$/is;
/** Scripts have ten columns. */
const MAX_COLUMNS = 64;

export function isAss(text: string): boolean {
  return ASS_SIGNATURE.test(text);
}

/**
 * Parses the dialogue of a script of (Advanced) SubStation Alpha. Comments, codes and drawings
 * aren't text. A line that is in several layers at the same time is there once.
 */
export function parseAss(text: string): ParsedCues {
  let [columns, isEvents] = [ASS_COLUMNS, true];
  const cues = new Map<string, Cue>();
  const badLines: number[] = [];
  for (const [i, line] of splitLines(text).entries()) {
    const [, key, value = ""] = ASS_LINE.exec(line.trimStart()) ?? [];
    if (key === undefined) continue;
    if (key.startsWith("[")) isEvents = /events/i.test(key);
    else if (/format/i.test(key)) {
      const names = value.split(",", MAX_COLUMNS).map((name) => name.trim().toLowerCase());
      if (isEvents && names.includes("text")) columns = names;
    } else {
      const fields = value.split(",");
      const timeOf = (name: string) => parseMediaTime(fields[columns.indexOf(name)]);
      const [start, end] = [timeOf("start"), timeOf("end")];
      const own = cleanAssText(fields.slice(columns.indexOf("text")).join(","));
      if (Number.isNaN(start) || fields.length < columns.length) badLines.push(i + 1);
      else cues.set(`${start} ${end} ${own}`, { start, end, text: own });
    }
  }
  return { cues: [...cues.values()], badLines };
}
