import { decodeHTMLStrict } from "entities";
import type { Cue } from "../../types.ts";

/*
 * Lines, times and text of cues, without what formats them. Every pattern has a bounded or negated
 * class, so that a hostile text takes linear time.
 */

export interface ParsedCues {
  /** Cues in file order. A missing end is NaN. */
  cues: Cue[];
  /** Numbers of the lines, from 1, that could not be read as they are written. */
  badLines: number[];
  language?: string | null;
  /** Whether times are frames at `NOMINAL_FPS`, because the file doesn't name its frame rate. */
  isFrameBased?: boolean;
}

export function splitLines(text: string): string[] {
  return text.split(/\r\n|\r|\n/);
}

export const MAX_NAMED_LINES = 5;

/** Adds the line of a position, or 0 once as many are there as are named: those are counted. */
export function addBadLine(badLines: number[], text: string, at: number): void {
  const isNamed = badLines.length < MAX_NAMED_LINES;
  badLines.push(isNamed ? splitLines(text.slice(0, at)).length : 0);
}

/** Frame rates by the highest frame number that a time like 00:00:03:12 may have. */
const FRAME_RATES = [25, 30] as const;
const MAX_TIME_CHARACTERS = 32;
const DIGITS = /^\d{1,9}$/;

/**
 * Parses a time as subtitle tools and their users write it: hours may lack, the fraction may follow
 * a comma, a point, a colon or nothing, and blanks may be anywhere. Two digits after a third colon
 * are frames. NaN if it isn't a time.
 */
export function parseMediaTime(text: string | undefined): number {
  if (text === undefined || text.length > MAX_TIME_CHARACTERS) return NaN;
  const compact = text
    .replaceAll(/\s/g, "")
    .replaceAll("：", ":")
    .replaceAll(/[，．]/g, ".");
  const sign = compact.startsWith("-") ? -1 : 1;
  const [whole, fraction, ...rest] = compact.replace(/^-/, "").split(/[.,;]/);
  if (rest.length > 0) return NaN;
  const parts = whole!.split(":");
  let tail = fraction === undefined ? "" : fraction;
  let tailSeconds = 0;
  const isMilliseconds = fraction === undefined && parts.length > 2 && parts.at(-1)!.length === 3;
  if (fraction === undefined && (parts.length === 4 || isMilliseconds)) {
    const last = parts.pop()!;
    if (last.length === 2) tailSeconds = toFrameSeconds(Number(last));
    else tail = last;
  }
  if (tail !== "" && !DIGITS.test(tail)) return NaN;
  if (!/^(?:\d{1,4}:)?\d{1,3}:\d{1,3}$/.test(parts.join(":"))) return NaN;
  const [seconds = 0, minutes = 0, hours = 0] = parts.toReversed().map(Number);
  if (tail !== "") tailSeconds = Number(`0.${tail}`);
  const milliseconds = Math.round((hours * 3600 + minutes * 60 + seconds + tailSeconds) * 1000);
  return (sign * milliseconds) / 1000 || 0;
}

function toFrameSeconds(frames: number): number {
  const rate = FRAME_RATES.find((candidate) => frames < candidate);
  return rate === undefined ? frames / 100 : frames / rate;
}

/** Tags of HTML and WebVTT that players and programs know. Any other `<` is text. */
const KNOWN_TAG =
  /^(?:[bipusvc]|em|strong|bold|italic|underline|font|colou?r|size|span|div|center|ruby|rt|rp|lang|br)$/;
const TAG = /<(\/?)([a-z][\w:-]{0,30})(?:[\s./][^<>]*)?>|<\d{1,3}:\d{2}[\d:.,]{0,12}>/gi;
const VTT_TAG = /<rt[^<>]*>[^<]*<\/rt>|<[^<>]*>/g;
/** A block of override codes of SSA that begins with one that renderers know. */
const OVERRIDES =
  /\{\s{0,9}\\(?:an?\d|[bius]\d{0,3}[\\}]|[bius]\s{0,9}\}|[xy]?(?:bord|shad)|blur|be\d|k[fot]?\d|r[^{}\\]{0,99}[\\}]|q\d|p\d|pbo|fe\d|[1-4]?[ac]&|c[\\}]|f[ns]|fsc|fa[xy]|fr|fade?\(|t\(|org\(|pos\(|move\(|i?clip\()[^{}]{0,2000}\}|\{\\[ibusr]\d?\}/gi;
const ANY_BLOCK = /\{[^{}]*\}/g;
/** A path of Windows, which is left alone, or a code for a line break or a hard space. */
const ESCAPE = /\b[a-z]:\\\S*|\\[nh]/gi;

/**
 * Removes tags that players know or that are closed in the cue, override codes and drawings;
 * decodes entities and escapes.
 */
export function cleanSrtText(text: string): string {
  const closed = new Set(
    [...text.matchAll(TAG)].flatMap(([, slash, name]) => (slash ? [name!.toLowerCase()] : [])),
  );
  const plain = removeOverrides(text, OVERRIDES).replaceAll(TAG, (tag, _, tagName?: string) => {
    const name = tagName?.toLowerCase() ?? "c"; // a time is a class of WebVTT
    if (name === "br") return "\n";
    return KNOWN_TAG.test(name) || closed.has(name) ? "" : tag;
  });
  return decodeHTMLStrict(decodeEscapes(plain));
}

export function cleanVttText(text: string): string {
  return decodeHTMLStrict(removeOverrides(text, OVERRIDES).replaceAll(VTT_TAG, ""));
}

export function cleanAssText(text: string): string {
  return decodeEscapes(removeOverrides(text, ANY_BLOCK));
}

/** Removes blocks of codes, and the drawings between `\p1` and `\p0`. */
function removeOverrides(text: string, pattern: RegExp): string {
  if (!text.includes("{")) return text;
  let [result, from, isDrawing] = ["", 0, false];
  for (const match of text.matchAll(pattern)) {
    if (!isDrawing) result += text.slice(from, match.index);
    from = match.index + match[0].length;
    const level = [...match[0].matchAll(/\\p(\d)/g)].at(-1)?.[1];
    if (level !== undefined) isDrawing = level !== "0";
  }
  return isDrawing ? result : result + text.slice(from);
}

function decodeEscapes(text: string): string {
  return text.replaceAll(ESCAPE, (code) => {
    if (code.length > 2) return code;
    return code === "\\h" ? "\u00A0" : "\n";
  });
}
