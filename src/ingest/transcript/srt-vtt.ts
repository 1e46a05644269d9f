import { cleanSrtText, cleanVttText } from "./cue-text.ts";
import { parseMediaTime } from "./media-time.ts";
import { splitLines } from "./numbered-line.ts";
import type { ParsedCues } from "./parsed-cues.ts";

/*
 * Lenient parser of SRT and WebVTT. Accepts what tools and people write for times and arrows, cues
 * without a blank line or a counter between them, and coordinates or settings after the times.
 * WebVTT follows the parser of section 6 of https://www.w3.org/TR/webvtt1/, in which a cue begins at
 * any line with times.
 */

const TIME = String.raw`-?\d[\d:.,;：，．\s]{0,24}?`;
/** Arrows of word processors and typing errors. Short times need `-->` to make a line of times. */
const ARROW = String.raw`[-–—‐‑−=~]{1,3}\s?(?:>|&gt;)|[–—→⟶⇒➔➜]|-{2,3}`;
const MARKS = String.raw`[\s\u200E\u200F\u202A-\u202E\u2066-\u2069\[]*`;
const TIMES = new RegExp(
  String.raw`^${MARKS}(${TIME})\s*(${ARROW})\s*(?:(${TIME})\]?(?:\s+([^\s\d.,:;].*))?)?\s*$`,
);
const BROKEN = new RegExp(String.raw`\d\s*:.*(?:${ARROW})|(?:${ARROW}).*\d\s*:|-->`);
const THREE_PARTS = /\d:\d{1,2}[:.,]\d/;
const COUNTER = /^[\s\uFEFF]*(\d{1,9})\s*$/;
const SETTINGS = /^(?:[A-Za-z]\w*:\S+\s*)+$/;
const MAX_LINE = 300;

/** A line with the times of a cue. */
interface Timing {
  /** Index of the line. */
  at: number;
  start: number;
  end: number;
  /** Text after the times, which some tools write there. */
  rest: string;
  /** How the times are written. */
  style: "standard" | "unusual" | "broken";
}

/** Whether the text has a line with times or the signature of WebVTT. */
export function isTimedText(text: string): boolean {
  return isWebVtt(text) || splitLines(text).some((line) => parseTiming(line, 0) !== null);
}

/** Returns the `Language` of a WebVTT header, null without any. */
export function parseWebVttLanguage(text: string): string | null {
  const [header = ""] = isWebVtt(text) ? text.split(/\n\s*\n|-->/, 1) : [];
  return /^Language:\s*(\S+)\s*$/im.exec(header)?.[1] ?? null;
}

/** Parses SRT or WebVTT into cues in file order, without markup. A missing end is NaN. */
export function parseTimedText(text: string): ParsedCues {
  const lines = splitLines(text);
  const isVtt = isWebVtt(text);
  const timings = findTimings(lines, isVtt);
  const hasCounters = timings.filter(({ at }) => COUNTER.test(lines[at - 1] ?? "")).length;
  const stripsCounters = hasCounters > timings.length / 2;
  const cues = timings.map((timing, i) => {
    const { start, end, at, rest } = timing;
    const next = timings[i + 1]?.at ?? lines.length;
    const hasCounter =
      stripsCounters && i + 1 < timings.length && COUNTER.test(lines[next - 1] ?? "");
    const own = [rest, ...lines.slice(at + 1, hasCounter ? next - 1 : next)];
    return { start, end, text: isVtt ? vttCueText(own) : cleanSrtText(own.join("\n")) };
  });
  placeBrokenCues(cues);
  const unusual = timings.filter(({ style }) => style === "unusual");
  const isDialect = unusual.length > 1 && unusual.length > timings.length / 2;
  const isReported = ({ style }: Timing) =>
    style === "broken" || (style === "unusual" && !isDialect && timings.length > unusual.length);
  return { cues, badLines: timings.filter(isReported).map(({ at }) => at + 1) };
}

function isWebVtt(text: string): boolean {
  return /^WEBVTT(?:\s|$)/i.test(text);
}

function findTimings(lines: string[], isVtt: boolean): Timing[] {
  const timings: Timing[] = [];
  let counter: number | null = null;
  for (const [at, line] of lines.entries()) {
    const isText = isVtt && line.includes("&gt;"); // an arrow that WebVTT writes in a text
    const timing = isText ? null : (parseTiming(line, at) ?? parseBroken(lines, at, isVtt));
    if (timing) {
      timings.push(timing);
      const own = COUNTER.exec(lines[at - 1] ?? "")?.[1];
      counter = own === undefined ? null : Number(own);
    } else if (!isVtt && counter !== null && isLonelyCounter(lines, at, counter + 1)) {
      counter += 1;
      timings.push({ at, start: NaN, end: NaN, rest: "", style: "broken" });
    }
  }
  return timings;
}

/** Parses a line of times; null for any other line. */
function parseTiming(line: string, at: number): Timing | null {
  if (line.length > MAX_LINE) return null;
  const [, from, arrow, to, rest = ""] = TIMES.exec(line) ?? [];
  if (from === undefined || arrow === undefined) return null;
  const [start, end] = [parseMediaTime(from), parseMediaTime(to)];
  if (Number.isNaN(start) || (to !== undefined && Number.isNaN(end))) return null;
  const isArrow = arrow === "-->";
  if (!isArrow && !(THREE_PARTS.test(from) && THREE_PARTS.test(to ?? ""))) return null;
  const isStandard =
    isArrow && [from, to ?? "0:00,000"].every((time) => STANDARD.test(time.trim()));
  const style = isStandard ? "standard" : "unusual";
  return { at, start, end, rest: SETTINGS.test(rest) ? "" : rest, style };
}

const STANDARD = /^-?(?:\d{1,3}:)?\d{1,3}:\d{1,2}(?:[.,]\d{1,9})?$/;

/**
 * Parses a line that was to have times, but has an error in them: after a counter or a blank line,
 * or with most of a time. A part that can be read counts.
 */
function parseBroken(lines: string[], at: number, isVtt: boolean): Timing | null {
  const line = lines[at]!;
  if (line.length > MAX_LINE || !BROKEN.test(line)) return null;
  const before = lines[at - 1]?.trim() ?? "";
  const isExpected = COUNTER.test(before) || (before === "" && at > 0 && isVtt);
  const hasTime = THREE_PARTS.test(line) && /^[\s\d:.,;OolI>=~–—→-]*$/.test(line);
  if (!hasTime && !(isExpected && /\d/.test(line))) return null;
  const [from, to] = line.split(new RegExp(ARROW), 2);
  return { at, start: parseMediaTime(from), end: parseMediaTime(to), rest: "", style: "broken" };
}

/** Whether a line is the counter of a cue whose line of times is missing. */
function isLonelyCounter(lines: string[], at: number, expected: number): boolean {
  if (Number(COUNTER.exec(lines[at]!)?.[1] ?? NaN) !== expected) return false;
  if ((lines[at - 1] ?? "").trim() !== "") return false;
  const next = (lines[at + 1]?.trim() ? lines[at + 1] : lines[at + 2]) ?? "";
  return next.trim() !== "" && !TIMES.test(next) && !BROKEN.test(next);
}

/** Gives cues whose start can't be read the time between their neighbours. */
function placeBrokenCues(cues: { start: number; end: number }[]): void {
  for (const [i, cue] of cues.entries()) {
    if (!Number.isNaN(cue.start)) continue;
    const before = cues[i - 1];
    const lastEnd = Number.isNaN(before?.end) ? before?.start : before?.end;
    cue.start = Math.min(lastEnd ?? 0, Number.isNaN(cue.end) ? Infinity : cue.end);
  }
}

/** Joins lines up to the first empty one. A comment, a style or the next cue's id may follow. */
function vttCueText([rest = "", ...lines]: string[]): string {
  const end = lines.indexOf("");
  return cleanVttText([rest, ...lines.slice(0, end === -1 ? undefined : end)].join("\n"));
}
