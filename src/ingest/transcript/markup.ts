import { decodeHTML, decodeHTMLAttribute } from "entities";
import type { Cue } from "../../types.ts";
import { skipXmlProlog } from "../../xml-prolog.ts";
import { addBadLine, type ParsedCues } from "./cue-text.ts";

/* Transcripts in markup: TTML, which is XML, and SAMI, which is like HTML. */

/** A tag of XML or HTML. `name` is in lower case and without a prefix, as are attributes. */
interface MarkupTag {
  kind: "open" | "close";
  name: string;
  attributes: Map<string, string>;
  isEmpty: boolean;
  at: number;
}

const ATTRIBUTE_NAME = /[^\s=<>"'/]+/g;
const EQUALS = /\s*=\s*/y;
const BARE_VALUE = /[^\s"'>]*/y;
const SKIPPED = [
  ["<!--", "-->"],
  ["<![CDATA[", "]]>"],
  ["<?", "?>"],
  ["<!", ">"],
] as const;

/**
 * Splits XML, or HTML as careless as that of SAMI, into tags and text. Skips comments,
 * declarations and instructions. Entities are decoded.
 */
function* tokenize(text: string): Generator<MarkupTag | { kind: "text"; text: string }> {
  for (let at = 0; at < text.length;) {
    const start = text.indexOf("<", at);
    if (start !== at) {
      const end = start < 0 ? text.length : start;
      yield { kind: "text", text: decodeHTML(text.slice(at, end)) };
      if (start < 0) return;
    }
    if (!/[a-z_/!?]/i.test(text[start + 1] ?? "")) {
      yield { kind: "text", text: "<" };
      at = start + 1;
      continue;
    }
    const skipped = SKIPPED.find(([opening]) => text.startsWith(opening, start));
    const [opening, closing] = skipped ?? ["<", ">"];
    const end = text.indexOf(closing, start + opening.length);
    if (end < 0) return;
    at = end + closing.length;
    if (opening === "<![CDATA[") yield { kind: "text", text: text.slice(start + 9, end) };
    if (skipped) continue;
    const source = text.slice(start + 1, end);
    const [, slash, name] = /^(\/?)\s{0,9}([^\s/>]{1,100})/.exec(source) ?? [];
    if (name === undefined) continue;
    const [kind, isEmpty] = [slash ? "close" : "open", source.endsWith("/")] as const;
    yield { kind, name: localName(name), attributes: parseAttributes(source), isEmpty, at: start };
  }
}

/** Reads each character once: a value that isn't closed is left out, and what it has is read. */
function parseAttributes(source: string): Map<string, string> {
  const attributes = new Map<string, string>();
  const matchAt = (pattern: RegExp, at: number) => {
    pattern.lastIndex = at;
    return pattern.exec(source);
  };
  for (let at = 0; ;) {
    const name = matchAt(ATTRIBUTE_NAME, at);
    if (name === null) return attributes;
    at = ATTRIBUTE_NAME.lastIndex;
    if (matchAt(EQUALS, at) === null) continue;
    at = EQUALS.lastIndex;
    const quote = source[at] === '"' || source[at] === "'" ? source[at]! : "";
    const start = at + quote.length;
    const end = quote ? source.indexOf(quote, start) : at + matchAt(BARE_VALUE, at)![0].length;
    if (end < 0) continue;
    attributes.set(localName(name[0]), decodeHTMLAttribute(source.slice(start, end)));
    at = end;
  }
}

function localName(name: string): string {
  return name.slice(name.lastIndexOf(":") + 1).toLowerCase();
}

/** Characters before and in the styles of a file of SAMI. */
const MAX_STYLES = 20_000;
/** The language of a class of paragraphs: `.ENCC { Name: English; lang: en-US; }`. */
const CLASS_LANGUAGE = /\.([\w-]{1,64})\s{0,9}\{[^{}]{0,999}?\blang\s{0,9}:\s{0,9}([a-z-]{2,35})/gi;

/** Whether a text is SAMI, the captions of Windows Media. */
export function isSami(text: string): boolean {
  return /^<sami[\s>]/i.test(skipXmlProlog(text.slice(0, 4000)));
}

/**
 * Parses SAMI. Each `SYNC` ends what was shown. Of several languages, which are classes of
 * paragraphs, the one with the most text is taken.
 */
export function parseSami(text: string): ParsedCues {
  const styles = text.slice(0, MAX_STYLES).matchAll(CLASS_LANGUAGE);
  const languages = new Map(Array.from(styles, ([, name, tag]) => [name!.toLowerCase(), tag!]));
  const byClass = new Map<string, Cue[]>();
  let [time, texts]: [number, Pick<Cue, "text">] = [NaN, { text: "" }];
  for (const token of tokenize(text)) {
    if (token.kind === "text") texts.text += token.text;
    else if (token.kind === "close") continue;
    else if (token.name === "sync") {
      time = Number(token.attributes.get("start")?.replace(/ms$/i, "") ?? NaN) / 1000;
      texts = { text: "" }; // text before a paragraph isn't shown
    } else if (token.name === "p" && !Number.isNaN(time)) {
      const className = token.attributes.get("class")?.toLowerCase() ?? "";
      const cues = byClass.get(className) ?? [];
      const last = cues.at(-1);
      if (last && Number.isNaN(last.end)) last.end = time;
      const cue = { start: time, end: NaN, text: "" };
      cues.push(cue);
      texts = cue;
      byClass.set(className, cues);
    } else if (token.name === "br") texts.text += "\n";
  }
  const shown = [...byClass].map(([name, cues]) => ({
    cues: cues.filter((cue) => cue.text.trim() !== ""),
    language: languages.get(name) ?? null,
  }));
  const [longest = { cues: [] }] = shown.toSorted((a, b) => b.cues.length - a.cues.length);
  return { ...longest, badLines: [] };
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

function readRates({ attributes }: MarkupTag): Pick<Rates, "fps" | "ticks"> {
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
function openElement(tag: MarkupTag, parent: TtmlElement, rates: Rates): TtmlElement | null {
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
