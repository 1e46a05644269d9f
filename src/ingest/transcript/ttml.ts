import { decodeHTML, decodeHTMLAttribute } from "entities";
import type { Cue } from "../../types.ts";
import { skipXmlProlog } from "../../xml-prolog.ts";
import { addBadLine, type ParsedCues } from "./cue-text.ts";

/** A tag. Names of elements and attributes are in lower case and without a prefix. */
interface TtmlTag {
  kind: "open" | "close";
  name: string;
  attributes: Map<string, string>;
  isEmpty: boolean;
  at: number;
}

/** A comment, a text that isn't markup, a declaration or instruction, a tag, or a text. */
const TOKENS =
  /<!--[^]*?(?:-->|$)|<!\[CDATA\[([^]*?)(?:\]\]>|$)|<[!?][^>]*>?|<(\/?)([a-z_][^\s<>/]*)((?:[\s/][^<>]*)?)>|([^<]+|<)/gi;
const ATTRIBUTES = /(?<![^\s"'/])([^\s=<>"'/]{1,100})\s{0,9}=\s{0,9}(?:"([^"]*)"|'([^']*)')/g;

/** Splits XML into tags and text, without comments, declarations and instructions. */
function* tokenize(xml: string): Generator<TtmlTag | { kind: "text"; text: string }> {
  for (const { index, 1: data, 2: slash, 3: name, 4: rest = "", 5: text } of xml.matchAll(TOKENS)) {
    if (data !== undefined) yield { kind: "text", text: data };
    if (text !== undefined) yield { kind: "text", text: decodeHTML(text) };
    if (name === undefined) continue;
    const found = Array.from(rest.matchAll(ATTRIBUTES), ([, attribute, double, single]) => {
      return [localName(attribute!), decodeHTMLAttribute(double ?? single!)] as const;
    });
    const [kind, isEmpty] = [slash ? "close" : "open", rest.endsWith("/")] as const;
    yield { kind, name: localName(name), attributes: new Map(found), isEmpty, at: index };
  }
}

function localName(name: string): string {
  return name.slice(name.lastIndexOf(":") + 1).toLowerCase();
}

const MAX_DEPTH = 64;
const DEFAULT_FPS = 30;
const OFFSET = /^(\d{1,12}(?:\.\d{1,9})?)(h|ms|m|s|f|t)?$/;
const CLOCK = /^(?:(\d{1,4}):)?(\d{1,2}):(\d{2})(?:([.,]\d{1,9})|[:;](\d{1,3})(?:\.\d{1,3})?)?$/;
const HIDDEN = new Set(["head", "metadata", "title", "desc", "style", "styling", "layout"]);
const HIDDEN_RUBY = /^(?:text|textContainer|delimiter)$/;
/** Length of a `p` up to which it is a line. */
const MAX_LINE_SECONDS = 30;

/** An open element. Times are seconds; `end` is infinite if nothing limits it. */
interface TtmlElement {
  name: string;
  start: number;
  end: number;
  /** Whether the element is a line with times, or in one. Its spans with times are words. */
  isLine: boolean;
  isSequence: boolean;
  nextStart: number;
  isHidden: boolean;
  preserves: boolean;
  cue: Cue | null;
}

const NO_TIMES = { name: "", start: 0, end: Infinity, nextStart: 0, cue: null };
const NO_FLAGS = { isLine: false, isSequence: false, isHidden: false, preserves: false };

interface Rates {
  fps: number;
  ticks: number;
  /** Whether times count from zero, against the standard, not from those of the parent. */
  isAbsolute: boolean;
}

/** Whether a text is TTML (https://www.w3.org/TR/ttml2/), DFXP or a profile of them. */
export function isTtml(text: string): boolean {
  return /^<(?:[\w-]{1,30}:)?tt[\s>]/i.test(skipXmlProlog(text.slice(0, 4000)));
}

/**
 * Parses TTML. Times are those of a line or the innermost element with times, relative to what
 * contains it. If that puts any after it, all are absolute. Blanks are one, unless `xml:space`
 * preserves them; `br` is a line break.
 */
export function parseTtml(text: string, isAbsolute: boolean = false): ParsedCues {
  const cues: Cue[] = [];
  const badLines: number[] = [];
  const root: TtmlElement = { ...NO_TIMES, ...NO_FLAGS };
  const stack: TtmlElement[] = [];
  const rates: Rates = { fps: DEFAULT_FPS, ticks: 1, isAbsolute };
  let language: string | null = null;
  for (const token of tokenize(text)) {
    const top = stack.at(-1) ?? root;
    const shown = top.isHidden ? null : top.cue;
    if (token.kind === "text") {
      if (shown) shown.text += top.preserves ? token.text : token.text.replaceAll(/\s+/g, " ");
    } else if (token.kind === "close") {
      const at = stack.findLastIndex(({ name }) => name === token.name);
      if (at >= 0) stack.length = at;
    } else if (token.name === "br") {
      if (shown) shown.text += "\n";
    } else {
      if (token.name === "tt") {
        Object.assign(rates, readRates(token));
        language = token.attributes.get("lang") ?? null;
      }
      const element = openElement(token, top, rates);
      if (element === null) addBadLine(badLines, text, token.at);
      const opened = element ?? { ...top, name: token.name };
      if (opened.cue && opened.cue !== top.cue) cues.push(opened.cue);
      if (!token.isEmpty && stack.length < MAX_DEPTH) stack.push(opened);
    }
  }
  if (rates.isAbsolute && !isAbsolute) return parseTtml(text, true);
  return { cues: cues.filter((cue) => cue.text.trim() !== ""), badLines, language };
}

function readRates({ attributes }: TtmlTag): Pick<Rates, "fps" | "ticks"> {
  const multiplier = attributes.get("frameratemultiplier") ?? "1 1";
  const [numerator = 1, denominator = 1] = multiplier.split(/[\s:]+/).map(Number);
  const frameRate = Number(attributes.get("framerate") ?? DEFAULT_FPS);
  const fps = (frameRate * numerator) / (denominator || 1) || DEFAULT_FPS;
  const subFrames = Number(attributes.get("subframerate") ?? 1) || 1;
  const defaultTicks = attributes.has("framerate") ? fps * subFrames : 1;
  return { fps, ticks: Number(attributes.get("tickrate") ?? defaultTicks) || 1 };
}

/**
 * Opens an element. Null if it has times that can't be read. Times that fit their parent as
 * absolute ones only, or begin after its end, make all absolute.
 */
function openElement(tag: TtmlTag, parent: TtmlElement, rates: Rates): TtmlElement | null {
  const [begin, end, duration] = ["begin", "end", "dur"].map((name) => {
    const value = tag.attributes.get(name)?.trim();
    return value === undefined ? undefined : parseTtmlTime(value, rates);
  });
  if ([begin, end, duration].some((time) => Number.isNaN(time))) return null;
  const outer = parent.isSequence ? parent.nextStart : parent.start;
  if (begin !== undefined && !parent.isSequence && parent.start > 0) {
    const fits = begin >= parent.start && (end ?? begin) <= parent.end;
    const isPastEnd = outer + begin >= parent.end || (fits && outer + (end ?? 0) > parent.end);
    rates.isAbsolute ||= isPastEnd;
  }
  const base = rates.isAbsolute && !parent.isSequence ? 0 : outer;
  const start = begin === undefined ? outer : base + begin;
  const last = Math.min(
    rates.isAbsolute && end !== undefined ? Infinity : parent.end,
    end === undefined ? Infinity : base + end,
    duration === undefined ? Infinity : start + duration,
  );
  if (parent.isSequence) parent.nextStart = last;
  const isTimed = begin !== undefined || end !== undefined || duration !== undefined;
  const isHidden = HIDDEN.has(tag.name) || HIDDEN_RUBY.test(tag.attributes.get("ruby") ?? "");
  const space = tag.attributes.get("space");
  const isContent = tag.name === "p" || (tag.name === "span" && isTimed && !parent.isLine);
  return {
    name: tag.name,
    start,
    end: last,
    isLine: parent.isLine || (tag.name === "p" && isTimed && last - start <= MAX_LINE_SECONDS),
    isSequence: tag.attributes.get("timecontainer") === "seq",
    nextStart: start,
    isHidden: parent.isHidden || isHidden,
    preserves: space === undefined ? parent.preserves : space === "preserve",
    cue: isContent ? { start, end: Number.isFinite(last) ? last : NaN, text: "" } : parent.cue,
  };
}

/** Parses a clock time or an offset, in seconds to the millisecond; NaN for anything else. */
function parseTtmlTime(value: string, { fps, ticks }: Rates): number {
  const [, number, unit = "s"] = OFFSET.exec(value) ?? [];
  const units: Record<string, number> = {
    h: 3600,
    m: 60,
    s: 1,
    ms: 0.001,
    f: 1 / fps,
    t: 1 / ticks,
  };
  const clock = CLOCK.exec(value);
  let seconds = number === undefined ? NaN : Number(number) * units[unit]!;
  if (clock) {
    const [, hours = 0, minutes, wholeSeconds, fraction = "", frames = "0"] = clock;
    seconds = Number(hours) * 3600 + Number(minutes) * 60 + Number(wholeSeconds);
    seconds += Number(`0${fraction.replace(",", ".")}`) + Number(frames) / fps;
  }
  return Math.round(seconds * 1000) / 1000;
}
