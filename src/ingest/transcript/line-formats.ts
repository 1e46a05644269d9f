import { NOMINAL_FPS } from "../../cues.ts";
import type { Cue } from "../../types.ts";
import { cleanSrtText } from "./cue-text.ts";
import { parseMediaTime } from "./media-time.ts";
import { numberLines, type NumberedLine } from "./numbered-line.ts";
import type { ParsedCues } from "./parsed-cues.ts";

/*
 * Formats with a cue on each line: Whisper's TSV and CSV, Audacity's labels, MPL2, MicroDVD, lines
 * that begin with start and end, and lines that begin with a time (LRC, TMPlayer, notes with
 * times). SBV and SubViewer have a line of times before the text, notes of a talk one of a speaker
 * and a time.
 */

interface LineFormat {
  name: string;
  /** A line of the format. */
  pattern: RegExp;
  parse: (lines: NumberedLine[]) => ParsedCues;
}

const TIME = String.raw`-?\d{1,3}:\d{1,2}(?::\d{1,2})?(?:[.,:]\d{1,3})?`;
const TSV_LINE = /^\s*(-?\d+(?:\.\d+)?)\t(-?\d+(?:\.\d+)?)\t(.*)$/;
const CSV_LINE = /^\s*(\d+),\s?(\d+),\s?("?)(.*)\3\s*$/;
const MICRODVD_LINE = /^\s*\{(\d+)\}\{(\d*)\}(.*)$/;
const MPL2_LINE = /^\s*\[(\d+)\]\[(\d*)\](.*)$/;
const SBV_LINE = new RegExp(String.raw`^\s*(${TIME})\s?[,–—-]\s?(${TIME})\s*$`);
/** A line of start, end and text, which may be numbered. */
const RANGE_LINE = new RegExp(
  String.raw`^\s*(?:\d{1,5}[\t,;|])?(${TIME})[\t ,;|–—>-]{1,9}(${TIME})[\t ,;:|-]{1,9}(\S.*)$`,
);
/** A line that names who speaks from a time on: `Ann Lee  0:03`, `Ann Lee (00:03):`. */
const SPEAKER_LINE = new RegExp(
  String.raw`^\s{0,9}\S[^.!?]{0,60}?(?:\t|\s{2}|\s?[(\[])\s{0,9}(${TIME})[)\]]?:?\s{0,9}$`,
);
/** A line that begins with a time, or with several of them in square brackets. */
const STAMPED_LINE = new RegExp(
  String.raw`^\s*(?:((?:\[${TIME}\]\s?)+)|[(<]${TIME}[)>]|${TIME}(?:,\d+)?(?=[\s:=]|$))[:=\s-]*(.*)$`,
);
const STAMP = new RegExp(TIME, "g");
const LRC_TAG = /^\s*\[(?:[a-z#]{1,12}):([^\]]*)\]\s*$/i;
const HEADER = /^\s*(?:start|begin)[\t,]\s?end[\t,]\s?text\s*$/i;

const FORMATS: readonly LineFormat[] = [
  { name: "TSV", pattern: TSV_LINE, parse: (lines) => parseColumns(lines, TSV_LINE, 3) },
  { name: "CSV", pattern: CSV_LINE, parse: (lines) => parseColumns(lines, CSV_LINE, 4) },
  { name: "MicroDVD", pattern: MICRODVD_LINE, parse: parseMicroDvd },
  { name: "MPL2", pattern: MPL2_LINE, parse: parseMpl2 },
  { name: "SBV", pattern: SBV_LINE, parse: parseSbv },
  { name: "lines with start and end", pattern: RANGE_LINE, parse: parseRanges },
  { name: "LRC or TMPlayer", pattern: STAMPED_LINE, parse: parseStamped },
];

/** A line that says something about the file: `[ti:Ferry]`, `[INFORMATION]`, `[TITLE]x`. */
const TAG = /^\s*\[[a-z][a-z ]{0,20}[\]:]/i;
/** Share of lines in a format, of those with text, above which a file is in it. */
const MIN_SHARE = 0.4;
/** The same of SBV, whose cues have lines of text. */
const MIN_SBV_SHARE = 0.15;

/** Parses a file of one of the formats above; null for any other. */
export function parseLineFormat(text: string): ParsedCues | null {
  const lines = numberLines(text).filter((line) => line.text.trim() !== "");
  const hasHeader = HEADER.test(lines[0]?.text ?? "");
  const format = FORMATS.find(({ pattern, name }) => {
    const matching = lines.filter((line) => pattern.test(line.text)).length;
    if (hasHeader && name === (lines[0]!.text.includes("\t") ? "TSV" : "CSV")) return matching > 0;
    const others = lines.filter((line) => TAG.test(line.text)).length;
    return (
      matching > 0 &&
      matching >= (lines.length - others) * (name === "SBV" ? MIN_SBV_SHARE : MIN_SHARE)
    );
  });
  if (format) return format.parse(hasHeader ? lines.slice(1) : lines);
  return isBySpeakers(lines) ? parseSpeakers(lines) : null;
}

/** Whether a line of a speaker and a time comes first, and others follow at later times. */
function isBySpeakers(lines: NumberedLine[]): boolean {
  const times = lines.map(({ text }) => parseMediaTime(SPEAKER_LINE.exec(text)?.[1]));
  const known = times.filter((time) => !Number.isNaN(time));
  const isSorted = known.every((time, i) => i === 0 || time >= known[i - 1]!);
  return !Number.isNaN(times[0]) && known.length > 1 && isSorted;
}

/** Parses what each speaker says from a time on. The speakers' names aren't speech. */
function parseSpeakers(lines: NumberedLine[]): ParsedCues {
  const cues: Cue[] = [];
  for (const { text } of lines) {
    const time = SPEAKER_LINE.exec(text)?.[1];
    if (time !== undefined) cues.push({ start: parseMediaTime(time), end: NaN, text: "" });
    else cues.at(-1)!.text += `${text}\n`;
  }
  return { cues, badLines: [] };
}

function parseRanges(lines: NumberedLine[]): ParsedCues {
  const cues = lines.flatMap(({ text }): Cue[] => {
    const [, start, end, own] = RANGE_LINE.exec(text) ?? [];
    return own === undefined
      ? []
      : [{ start: parseMediaTime(start), end: parseMediaTime(end), text: splitBars(own) }];
  });
  return { cues, badLines: unmatched(lines, RANGE_LINE) };
}

/** Parses lines of start, end and text: in seconds if any of them has a fraction, else in ms. */
function parseColumns(lines: NumberedLine[], pattern: RegExp, textGroup: number): ParsedCues {
  const rows = lines.map((line) => ({ line, match: pattern.exec(line.text) }));
  const hasFraction = rows.some(({ match }) => match && `${match[1]}${match[2]}`.includes("."));
  const unit = hasFraction ? 1 : 1000;
  const cues = rows.flatMap(({ match }): Cue[] => {
    if (!match) return [];
    const cueText = match[textGroup]!.replaceAll('""', '"');
    return [{ start: Number(match[1]) / unit, end: Number(match[2]) / unit, text: cueText }];
  });
  return { cues, badLines: unmatched(lines, pattern) };
}

const MICRODVD_CODE = /\{[a-z]:[^{}]*\}/gi;

/** Parses MicroDVD, whose first line may name the frame rate. */
function parseMicroDvd(lines: NumberedLine[]): ParsedCues {
  const rows = lines.flatMap((line) => {
    const match = MICRODVD_LINE.exec(line.text);
    return match ? [match.slice(1)] : [];
  });
  const [first] = rows;
  const named = Number(
    /^\s*(\d{1,3}(?:[.,]\d{1,6})?)\s*$/.exec(first?.[2] ?? "")?.[1]?.replace(",", "."),
  );
  const hasRate = named > 0 && Number(first![0]) <= 1;
  const fps = hasRate ? named : NOMINAL_FPS;
  const cues = rows.slice(hasRate ? 1 : 0).map(([start, end, text]) => ({
    start: Number(start) / fps,
    end: end === "" ? NaN : Number(end) / fps,
    text: splitBars(text!.replaceAll(MICRODVD_CODE, "")),
  }));
  return { cues, badLines: unmatched(lines, MICRODVD_LINE), isFrameBased: !hasRate };
}

/** Parses MPL2, whose times are tenths of seconds. A slash before a line makes it italic. */
function parseMpl2(lines: NumberedLine[]): ParsedCues {
  const cues = lines.flatMap(({ text }): Cue[] => {
    const [, start, end, own] = MPL2_LINE.exec(text) ?? [];
    if (own === undefined) return [];
    const plain = splitBars(own).replaceAll(/^\s*[/_\\]/gm, "");
    return [{ start: Number(start) / 10, end: end === "" ? NaN : Number(end) / 10, text: plain }];
  });
  return { cues, badLines: unmatched(lines, MPL2_LINE) };
}

/** A line of times with an error in it. */
const BAD_SBV_LINE = /^[\s\d:.]{4,20},[\s\d:.]{4,20}$|^\d{1,2}:\d{1,2}:[^\s,]{1,12}\s?,\s?\d/;

/** Parses SBV and SubViewer, whose text follows a line of times. */
function parseSbv(lines: NumberedLine[]): ParsedCues {
  const cues: Cue[] = [];
  const badLines: number[] = [];
  const texts: string[][] = [];
  for (const { number, text } of lines) {
    const [, start, end] = SBV_LINE.exec(text) ?? [];
    const isBad = start === undefined && BAD_SBV_LINE.test(text);
    if (isBad) badLines.push(number);
    if (start !== undefined || isBad) {
      const from = isBad ? parseMediaTime(text.split(",", 1)[0]) : parseMediaTime(start);
      const before = cues.at(-1)?.end ?? 0;
      cues.push({ start: Number.isNaN(from) ? before : from, end: parseMediaTime(end), text: "" });
      texts.push([]);
    } else texts.at(-1)?.push(text);
  }
  for (const [i, own] of texts.entries()) {
    cues[i]!.text = cleanSrtText(own.join("\n").replaceAll(/\[br\]/gi, "\n"));
  }
  return { cues, badLines };
}

/**
 * Parses lines that begin with times: LRC, also with times of words and an offset, TMPlayer, and
 * notes. Lines without a time belong to the one before, unless they look like one with an error.
 */
function parseStamped(lines: NumberedLine[]): ParsedCues {
  const cues: Cue[] = [];
  const badLines: number[] = [];
  let [offset, language]: [number, string | null] = [0, null];
  let latest: Cue[] = [];
  for (const { number, text } of lines) {
    const match = STAMPED_LINE.exec(text);
    const tag = match ? null : LRC_TAG.exec(text);
    if (match) {
      const own = cleanStampedText(match[2]!);
      const prefix = match[1] ?? text.slice(0, text.length - match[2]!.length);
      // TMPlayer may number the lines of a cue: 00:00:01,2=
      const numbered = /^\s*(\d+:\d+:\d+),\d=/.exec(text);
      const stamps = numbered
        ? [numbered[1]!]
        : match[1]
          ? prefix.match(STAMP)!
          : prefix.match(STAMP)!.slice(0, 1);
      latest = stamps.map((stamp) => ({ start: parseMediaTime(stamp), end: NaN, text: own }));
      cues.push(...latest);
    } else if (tag) {
      if (/^\s*\[offset:/i.test(text)) offset = Number(tag[1]) / 1000 || 0;
      if (/^\s*\[la(?:ng)?:/i.test(text)) language = tag[1]!.trim();
    } else if (SECTION_LINE.test(text)) {
      latest = [];
    } else if (/^\s*[[(<{]?\s*\d{0,3}:\d|^\s*\[\D{0,2}\d/.test(text)) {
      badLines.push(number);
      latest = [];
    } else {
      for (const cue of latest) cue.text += `\n${text}`;
    }
  }
  for (const cue of cues) cue.start = Math.max(0, cue.start - offset);
  endAtPauses(cues);
  return { cues, badLines, language };
}

/** Ends cues at the time of a line without text, which is there to clear the screen. */
function endAtPauses(cues: Cue[]): void {
  const sorted = cues.toSorted((a, b) => a.start - b.start);
  for (const [i, { start, text }] of sorted.entries()) {
    if (i > 0 && text.trim() === "") sorted[i - 1]!.end = start;
  }
}

/** A line that names a part of a song: `[Chorus]`. */
const SECTION_LINE = /^\s*\[[^\]\d][^\]]{0,40}\]\s*$/;

const WORD_TIME = new RegExp(String.raw`[<\[]${TIME}[>\]]`, "g");

function cleanStampedText(text: string): string {
  return splitBars(text.replaceAll(WORD_TIME, ""));
}

/** Makes line breaks of the bars that stand for them. */
function splitBars(text: string): string {
  return text.replaceAll("|", "\n");
}

function unmatched(lines: NumberedLine[], pattern: RegExp): number[] {
  return lines.filter(({ text }) => !pattern.test(text)).map(({ number }) => number);
}
