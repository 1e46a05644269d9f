import type { Cue } from "../../types.ts";

/*
 * Lenient parser of SRT and WebVTT. Accepts times with or without hours, with comma or point, with
 * any number of fraction digits or without an end, cues without a blank line between them, and
 * coordinates or settings after the times. WebVTT follows the parser of section 6 of
 * https://www.w3.org/TR/webvtt1/, in which a cue begins at any line with times.
 */

const TIME = String.raw`-?(?:\d{1,3}:)?\d{1,3}:\d{1,2}(?:[.,]\d{1,9})?`;
const TIMES = new RegExp(String.raw`^[^\S\n]*(${TIME})[^\S\n]*-->[^\S\n]*(?:(${TIME})(?:\s.*)?)?$`);
const COUNTER = /^\s*\d+\s*$/;

const VTT_TAG = /<rt[^<>]*>[^<]*<\/rt>|<[^<>]*>/g;
/** Tags that players know. Any other `<` is text. */
const SRT_TAG = /<\/?(?:[biusvc]|font|span|ruby|rt|lang)(?:[\s.][^<>]*)?>|<br\s*\/?>/gi;
/** Style codes that remain in subtitles converted from SSA. */
const SSA_TAG = /\{\\(?:an?\d|[bius][01]|\d?[ac]&|f[ns]|fade?\(|pos\(|move\(|clip\()[^{}]*\}/gi;
const ENTITY = /&(?:(amp|lt|gt|quot|apos|nbsp|lrm|rlm)|#(\d{1,7})|#x([\da-f]{1,6}));/gi;
const ENTITIES: Record<string, string> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  nbsp: "\u00A0",
  lrm: "\u200E",
  rlm: "\u200F",
};

/** Whether the text has a line with times or the signature of WebVTT. */
export function isTimedText(text: string): boolean {
  return isWebVtt(text) || splitLines(text).some((line) => TIMES.test(line));
}

/** Returns the `Language` of a WebVTT header, null without any. */
export function parseWebVttLanguage(text: string): string | null {
  const [header = ""] = isWebVtt(text) ? text.split(/\n\s*\n|-->/, 1) : [];
  return /^Language:\s*(\S+)\s*$/im.exec(header)?.[1] ?? null;
}

/** Parses SRT or WebVTT into cues in file order, without markup. A missing end is NaN. */
export function parseTimedText(text: string): Cue[] {
  const lines = splitLines(text);
  const isVtt = isWebVtt(text);
  const timings = lines.flatMap((line, at) => {
    const [, start, end] = TIMES.exec(line) ?? [];
    return start === undefined ? [] : [{ at, start: parseSeconds(start), end: parseSeconds(end) }];
  });
  const hasCounters = COUNTER.test(lines[(timings[0]?.at ?? 0) - 1] ?? "");
  return timings.map(({ at, start, end }, i) => {
    const next = timings[i + 1]?.at ?? lines.length;
    if (isVtt) return { start, end, text: vttCueText(lines.slice(at + 1, next)) };
    const hasCounter = hasCounters && i + 1 < timings.length && COUNTER.test(lines[next - 1]!);
    return { start, end, text: srtCueText(lines.slice(at + 1, hasCounter ? next - 1 : next)) };
  });
}

function isWebVtt(text: string): boolean {
  return /^WEBVTT(?:\s|$)/.test(text);
}

function splitLines(text: string): string[] {
  return text.split(/\r\n|\r|\n/);
}

function parseSeconds(time: string | undefined): number {
  if (time === undefined) return NaN;
  const [seconds = 0, minutes = 0, hours = 0] = time
    .replace(/^-/, "")
    .replace(",", ".")
    .split(":")
    .toReversed()
    .map(Number);
  const milliseconds = Math.round((hours * 3600 + minutes * 60 + seconds) * 1000);
  return time.startsWith("-") ? -milliseconds / 1000 : milliseconds / 1000;
}

/** Joins lines up to the first blank one. A comment, a style or the next cue's id may follow. */
function vttCueText(lines: string[]): string {
  const end = lines.findIndex((line) => line.trim() === "");
  const text = lines.slice(0, end === -1 ? undefined : end).join("\n");
  return text.replaceAll(VTT_TAG, "").replaceAll(ENTITY, decodeEntity);
}

function srtCueText(lines: string[]): string {
  return lines.join("\n").replaceAll(SRT_TAG, "").replaceAll(SSA_TAG, "");
}

function decodeEntity(entity: string, name?: string, decimal?: string, hex?: string): string {
  if (name !== undefined) return ENTITIES[name.toLowerCase()]!;
  const code = decimal === undefined ? Number.parseInt(hex!, 16) : Number(decimal);
  return code <= 0x10ffff ? String.fromCodePoint(code) : entity;
}
