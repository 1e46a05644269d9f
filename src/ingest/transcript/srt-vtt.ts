import {
  cleanSrtText,
  cleanVttText,
  parseMediaTime,
  type ParsedCues,
  splitLines,
} from "./cue-text.ts";

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
// bounded: MAX_TIMES
const TIMES = new RegExp(
  String.raw`^${MARKS}(${TIME})\s*(${ARROW})\s*(?:(${TIME})\]?(?:\s+([^\s\d.,:;].*))?)?\s*$`,
);
/** Times of WebVTT. What is behind them is never text. */
const VTT_TIMES = /^\s*([\d:]{4,12}[.,]\d{1,9})\s*-->\s*([\d:]{4,12}[.,]\d{1,9})/;
const ANY_ARROW = new RegExp(ARROW);
const THREE_PARTS = /\d:\d{1,2}[:.,]\d/;
const COUNTER = /^[\s\uFEFF]*(\d{1,9})\s*$/;
/** What may stand behind the times of SRT, but isn't text. */
const SETTINGS = /^[A-Za-z]\w*:\S+(?: [A-Za-z]\w*:\S+)* ?$/;
const MAX_TIMES = 300;
const MAX_HEADER = 4000;

interface Timing {
  at: number;
  start: number;
  end: number;
  /** Text after the times, which some tools write there. */
  rest: string;
  style: "standard" | "unusual" | "broken";
}

/** Whether the text has a line with times or the signature of WebVTT. */
export function isTimedText(text: string): boolean {
  return isWebVtt(text) || splitLines(text).some((line) => parseTiming(line, 0, false) !== null);
}

/** Returns the `Language` of a WebVTT header, null without any. */
export function parseWebVttLanguage(text: string): string | null {
  if (!isWebVtt(text)) return null;
  const lines = splitLines(text.slice(0, MAX_HEADER)).map((line) => line.trim());
  const end = lines.findIndex((line) => line === "" || line.includes("-->"));
  const header = end < 0 ? lines : lines.slice(0, end);
  const named = header.map((line) => /^Language:\s*(\S+)$/i.exec(line)?.[1]);
  return named.find((language) => language !== undefined) ?? null;
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
    const own = lines.slice(at + 1, hasCounter ? next - 1 : next);
    const isLast = i === timings.length - 1;
    const cueText = isVtt ? vttCueText(own, isLast) : cleanSrtText([rest, ...own].join("\n"));
    return { start, end, text: cueText };
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
    const timing = isText ? null : (parseTiming(line, at, isVtt) ?? parseBroken(lines, at, isVtt));
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

function parseTiming(line: string, at: number, isVtt: boolean): Timing | null {
  const [, first, last] = (isVtt && VTT_TIMES.exec(line)) || [];
  // `TIMES` allows any number of blanks: runs of them are made one.
  const source = first === undefined ? line.replaceAll(/\s+/g, " ") : `${first} --> ${last}`;
  const [, from, arrow, to, ownRest = ""] = TIMES.exec(source.slice(0, MAX_TIMES)) ?? [];
  if (from === undefined || arrow === undefined) return null;
  const [start, end] = [parseMediaTime(from), parseMediaTime(to)];
  if (Number.isNaN(start) || (to !== undefined && Number.isNaN(end))) return null;
  const isArrow = arrow === "-->";
  if (!isArrow && !(THREE_PARTS.test(from) && THREE_PARTS.test(to ?? ""))) return null;
  const isStandard =
    isArrow && [from, to ?? "0:00,000"].every((time) => STANDARD.test(time.trim()));
  const style = isStandard ? "standard" : "unusual";
  const rest = isVtt ? "" : ownRest + source.slice(MAX_TIMES);
  return { at, start, end, rest: SETTINGS.test(rest) ? "" : rest, style };
}

const STANDARD = /^-?(?:\d{1,4}:)?\d{1,3}:\d{1,2}(?:[.,]\d{1,9})?$/;

/**
 * Parses a line that was to have times, but has an error in them: after a counter or a blank line,
 * or with most of a time. A part that can be read counts.
 */
function parseBroken(lines: string[], at: number, isVtt: boolean): Timing | null {
  const line = lines[at]!;
  if (!mayHaveTimes(line)) return null;
  const before = lines[at - 1]?.trim() ?? "";
  const isExpected = COUNTER.test(before) || (before === "" && at > 0 && isVtt);
  const [from = "", to = ""] = line.split(ANY_ARROW, 2);
  const [start, end] = [parseMediaTime(from), parseMediaTime(to)];
  const isHalfRead =
    line.includes("-->") && [from, to].every((time) => /^\s*[^\s:]{1,9}:\S*\s*$/.test(time));
  const hasTime = THREE_PARTS.test(line) && (isHalfRead || /^[\s\d:.,;OolI>=~–—→-]*$/.test(line));
  if (!hasTime && !(isExpected && /\d/.test(line))) return null;
  return { at, start, end, rest: "", style: "broken" };
}

/** Whether a line is the counter of a cue whose line of times is missing. */
function isLonelyCounter(lines: string[], at: number, expected: number): boolean {
  if (Number(COUNTER.exec(lines[at]!)?.[1] ?? NaN) !== expected) return false;
  if ((lines[at - 1] ?? "").trim() !== "") return false;
  const next = (lines[at + 1]?.trim() ? lines[at + 1] : lines[at + 2]) ?? "";
  return next.trim() !== "" && !parseTiming(next, 0, false) && !mayHaveTimes(next);
}

/** Whether a line has an arrow, beside a part of a time or as WebVTT writes it. */
function mayHaveTimes(line: string): boolean {
  const head = line.slice(0, MAX_TIMES);
  return head.includes("-->") || (ANY_ARROW.test(head) && /\d\s?:/.test(head));
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

/**
 * Joins the lines of a cue up to an empty one, which may also follow the times. A comment, a style
 * or the next cue's id may come instead.
 */
function vttCueText(lines: string[], isLast: boolean): string {
  const start = lines.findIndex((line) => line.trim() !== "");
  const own = start < 0 ? [] : lines.slice(start);
  const end = own.indexOf("");
  const isId = end < 0 && own.length === 1 && !isLast;
  if (start > 0 && (isId || /^(?:NOTE|STYLE|REGION)\b/.test(own[0]!))) return "";
  return cleanVttText(own.slice(0, end < 0 ? undefined : end).join("\n"));
}
