import type { Cue } from "../../types.ts";
import { type MarkupTag, tokenizeMarkup } from "./markup-tokens.ts";
import type { ParsedCues } from "./parsed-cues.ts";

const MAX_DEPTH = 64;
const DEFAULT_FPS = 30;
const OFFSET = /^(\d{1,12}(?:\.\d{1,9})?)(h|ms|m|s|f|t)?$/;
const CLOCK = /^(\d{1,3}):(\d{2}):(\d{2})(?:([.,]\d{1,9})|[:;](\d{1,3})(?:\.\d{1,3})?)?$/;

/** Whether a text is TTML (https://www.w3.org/TR/ttml2/), DFXP or a profile of them. */
export function isTtml(text: string): boolean {
  return /^(?:\uFEFF|\s|<\?[^>]*\?>|<!(?:--)?[^>]*>)*<(?:[\w-]{1,30}:)?tt[\s>]/i.test(
    text.slice(0, 4000),
  );
}

/** An open element. Times are seconds; `end` is infinite if nothing limits it. */
interface TtmlElement {
  name: string;
  start: number;
  end: number;
  /** Whether the element has times itself. */
  isTimed: boolean;
  isSequence: boolean;
  /** Start of the next child of a sequence. */
  nextStart: number;
  isHidden: boolean;
  preserves: boolean;
  cue: Cue | null;
}

interface Rates {
  fps: number;
  ticks: number;
}

/**
 * Parses TTML. Times are those of the innermost element with times, relative to what contains it.
 * Blanks are one, unless `xml:space` preserves them; `br` is a line break.
 */
export function parseTtml(text: string): ParsedCues {
  const cues: Cue[] = [];
  const stack: TtmlElement[] = [];
  let [rates, language]: [Rates, string | null] = [{ fps: DEFAULT_FPS, ticks: 1 }, null];
  const badLines: number[] = [];
  let [line, counted] = [1, 0];
  const root: TtmlElement = {
    name: "",
    start: 0,
    end: Infinity,
    isTimed: false,
    isSequence: false,
    nextStart: 0,
    isHidden: false,
    preserves: false,
    cue: null,
  };
  for (const token of tokenizeMarkup(text)) {
    const top = stack.at(-1) ?? root;
    if (token.kind === "text") {
      if (!top.cue || top.isHidden) continue;
      top.cue.text += top.preserves ? token.text : token.text.replaceAll(/\s+/g, " ");
    } else if (token.kind === "close") {
      const at = stack.findLastIndex(({ name }) => name === token.name);
      if (at >= 0) stack.length = at;
    } else if (token.name === "br") {
      if (top.cue && !top.isHidden) top.cue.text += "\n";
    } else {
      if (token.name === "tt") {
        rates = readRates(token);
        language = token.attributes.get("lang") ?? null;
      }
      const element = openElement(token, top, rates);
      if (element === null) {
        line += text.slice(counted, token.at).split("\n").length - 1;
        counted = token.at;
        badLines.push(line);
      }
      const opened = element ?? { ...top, name: token.name, isTimed: false };
      if (opened.cue && opened.cue !== top.cue) cues.push(opened.cue);
      if (!token.isEmpty && stack.length < MAX_DEPTH) stack.push(opened);
    }
  }
  return { cues: cues.filter((cue) => cue.text.trim() !== ""), badLines, language };
}

function readRates({ attributes }: MarkupTag): Rates {
  const [numerator = 1, denominator = 1] = (attributes.get("frameratemultiplier") ?? "1 1")
    .split(/[\s:]+/)
    .map(Number);
  const frameRate = Number(attributes.get("framerate") ?? DEFAULT_FPS);
  const fps = (frameRate * numerator) / (denominator || 1) || DEFAULT_FPS;
  const subFrames = Number(attributes.get("subframerate") ?? 1) || 1;
  const isFramed = attributes.has("framerate");
  const ticks = Number(attributes.get("tickrate") ?? (isFramed ? fps * subFrames : 1)) || 1;
  return { fps, ticks };
}

/** Elements whose content isn't shown. */
const HIDDEN = new Set(["head", "metadata", "title", "desc", "style", "styling", "layout"]);

/** Opens an element. Null if it has times that can't be read. */
function openElement(tag: MarkupTag, parent: TtmlElement, rates: Rates): TtmlElement | null {
  const [begin, end, duration] = ["begin", "end", "dur"].map((name) => {
    const value = tag.attributes.get(name)?.trim();
    return value === undefined ? undefined : parseTtmlTime(value, rates);
  });
  if ([begin, end, duration].some((time) => Number.isNaN(time))) return null;
  const base = parent.isSequence ? parent.nextStart : parent.start;
  const start = base + (begin ?? 0);
  const last = Math.min(
    parent.end,
    end === undefined ? Infinity : base + end,
    duration === undefined ? Infinity : start + duration,
  );
  if (parent.isSequence) parent.nextStart = last;
  const isTimed = begin !== undefined || end !== undefined || duration !== undefined;
  const ruby = tag.attributes.get("ruby") ?? "";
  const element: TtmlElement = {
    name: tag.name,
    start,
    end: last,
    isTimed,
    isSequence: tag.attributes.get("timecontainer") === "seq",
    nextStart: start,
    isHidden:
      parent.isHidden || HIDDEN.has(tag.name) || /^(?:text|textContainer|delimiter)$/.test(ruby),
    preserves: tag.attributes.has("space")
      ? tag.attributes.get("space") === "preserve"
      : parent.preserves,
    cue: parent.cue,
  };
  const isContent = tag.name === "p" || (tag.name === "span" && isTimed);
  if (isContent) element.cue = { start, end: Number.isFinite(last) ? last : NaN, text: "" };
  return element;
}

/** Parses a clock time or an offset, in seconds; NaN for anything else. */
function parseTtmlTime(value: string, { fps, ticks }: Rates): number {
  const clock = CLOCK.exec(value);
  if (clock) {
    const [, hours, minutes, seconds, fraction = "", frames = "0"] = clock;
    const whole = Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds);
    return round(whole + Number(`0${fraction.replace(",", ".")}`) + Number(frames) / fps);
  }
  const [, number, unit = "s"] = OFFSET.exec(value) ?? [];
  if (number === undefined) return NaN;
  const seconds = { h: 3600, m: 60, s: 1, ms: 0.001, f: 1 / fps, t: 1 / ticks }[unit]!;
  return round(Number(number) * seconds);
}

function round(seconds: number): number {
  return Math.round(seconds * 1000) / 1000;
}
