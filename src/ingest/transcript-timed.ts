import type { Cue } from "../types.ts";

/*
 * SRT and WebVTT, read as they are found rather than as they should be: times with or without hours,
 * with comma or point, any number of fraction digits, no end, no blank line between cues, coordinates
 * and settings behind the times. WebVTT goes by the parser of https://www.w3.org/TR/webvtt1/ (section 6),
 * by which a cue begins wherever there is a line of times.
 */

const TIME = String.raw`-?(?:\d{1,3}:)?\d{1,3}:\d{1,2}(?:[.,]\d{1,9})?`;
const TIMES = new RegExp(String.raw`^[^\S\n]*(${TIME})[^\S\n]*-->[^\S\n]*(?:(${TIME})(?:\s.*)?)?$`);
const COUNTER = /^\s*\d+\s*$/;

const VTT_TAG = /<rt[^<>]*>[^<]*<\/rt>|<[^<>]*>/g;
/** Those that players know; a `<` in what is said is left alone. */
const SRT_TAG = /<\/?(?:[biusvc]|font|span|ruby|rt|lang)(?:[\s.][^<>]*)?>|<br\s*\/?>/gi;
/** What SSA left behind when it was converted. */
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

/** Whether the text has a line of times, or says that it is WebVTT. */
export function isTimedText(text: string): boolean {
  return isWebVtt(text) || linesOf(text).some((line) => TIMES.test(line));
}

/** What a WebVTT header calls the language; null where it doesn't. */
export function languageOfWebVtt(text: string): string | null {
  const [header = ""] = isWebVtt(text) ? text.split(/\n\s*\n|-->/, 1) : [];
  return /^Language:\s*(\S+)\s*$/im.exec(header)?.[1] ?? null;
}

/** The cues of SRT or WebVTT in the order of the file, without markup; an end that isn't given is NaN. */
export function readTimedText(text: string): Cue[] {
  const lines = linesOf(text);
  const isVtt = isWebVtt(text);
  const heads = lines.flatMap((line, at) => {
    const [, start, end] = TIMES.exec(line) ?? [];
    return start === undefined ? [] : [{ at, start: secondsOf(start), end: secondsOf(end) }];
  });
  const isCounted = COUNTER.test(lines[(heads[0]?.at ?? 0) - 1] ?? "");
  return heads.map(({ at, start, end }, i) => {
    const next = heads[i + 1]?.at ?? lines.length;
    if (isVtt) return { start, end, text: vttText(lines.slice(at + 1, next)) };
    const hasCounter = isCounted && i + 1 < heads.length && COUNTER.test(lines[next - 1]!);
    return { start, end, text: srtText(lines.slice(at + 1, hasCounter ? next - 1 : next)) };
  });
}

function isWebVtt(text: string): boolean {
  return /^WEBVTT(?:\s|$)/.test(text);
}

function linesOf(text: string): string[] {
  return text.split(/\r\n|\r|\n/);
}

function secondsOf(time: string | undefined): number {
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

/** Up to the first blank line: what follows is a comment, a style or the next cue's name. */
function vttText(lines: string[]): string {
  const end = lines.findIndex((line) => line.trim() === "");
  const text = lines.slice(0, end === -1 ? undefined : end).join("\n");
  return text.replaceAll(VTT_TAG, "").replaceAll(ENTITY, decodeEntity);
}

function srtText(lines: string[]): string {
  return lines.join("\n").replaceAll(SRT_TAG, "").replaceAll(SSA_TAG, "");
}

function decodeEntity(entity: string, name?: string, decimal?: string, hex?: string): string {
  if (name !== undefined) return ENTITIES[name.toLowerCase()]!;
  const code = decimal === undefined ? Number.parseInt(hex!, 16) : Number(decimal);
  return code <= 0x10ffff ? String.fromCodePoint(code) : entity;
}
