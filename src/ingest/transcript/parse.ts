import { LIMITS } from "../../config.ts";
import { isTooLong, normalizeCues } from "../../cues.ts";
import { AppError, type Failure } from "../../errors.ts";
import { isLanguageTag } from "../../language-tag.ts";
import type { Cue } from "../../types.ts";
import { isAss, parseAss } from "./ass.ts";
import { decodeText } from "./decode-text.ts";
import { parseJsonTranscript } from "./json.ts";
import { parseLineFormat } from "./line-formats.ts";
import type { ParsedCues } from "./parsed-cues.ts";
import { splitSentences } from "./plain-text.ts";
import { mergeRollingCues } from "./rolling-captions.ts";
import { isSami, parseSami } from "./sami.ts";
import { isScc, parseScc } from "./scc.ts";
import { isTimedText, parseWebVttLanguage, parseTimedText } from "./srt-vtt.ts";
import { isTtml, parseTtml } from "./ttml.ts";
import { badBytesWarning, badLinesWarning } from "./warnings.ts";

/** Contents of a transcript file. */
export interface Transcript {
  /** BCP 47 tag, null if the file has none. */
  language: string | null;
  /**
   * Cues by start time. They may overlap. Their text has line breaks, but no markup. All times of
   * plain text are NaN until `assignCueTimes`.
   */
  cues: Cue[];
  /** What could not be read as it is written. */
  warnings: Failure[];
  /** Whether times are frames at `NOMINAL_FPS`: `toVideoFps` makes them seconds. */
  isFrameBased: boolean;
}

/** Control characters that occur in binary files only. */
const BINARY = /(?!\s)\p{Cc}/u;
const PADDING = /[\s\p{Cc}]/u;
/** Formats that are named when they are refused. */
const OTHER_FORMATS: readonly (readonly [string, RegExp])[] = [
  ["RTF", /^\{\\rtf/],
  ["PDF", /^%PDF/],
  ["HTML", /^<(?:!doctype\s+html|html)\b/i],
  ["XML other than TTML", /^<(?:\?xml|!doctype|[a-z][\w:.-]{0,40}[\s>])/i],
  ["Spruce STL", /^\d{2}:\d{2}:\d{2}:\d{2}\s{0,9},\s{0,9}\d{2}:\d{2}:\d{2}:\d{2}\s{0,9},/m],
];
/** A line that begins as one of a timed format that isn't known. */
const TIMED_LINE =
  /^\s*(?:\d{1,4}\s*[\t,;|]?\s*)?[[({<]?\s*(?:\d{1,3}:\d{2}(?::\d{2})?[.,:;]?\d*|\d{1,9}[\t,;|]\s*\d{1,9}[\t,;|]|\d+[\])}]\s*[[({]\d+)/;

/**
 * Parses a transcript file of any format in docs/formats.md, in the encoding that is given or
 * detected. The sentences of a plain text have no times. Throws `bad_request` with the reason, also
 * for a timed format that isn't known: its numbers aren't words.
 */
export function parseTranscript(bytes: Uint8Array, encoding?: string): Transcript {
  const decoded = decodeText(bytes, encoding);
  const text = withoutPadding(decoded.text);
  if (text === "") throw unreadable("it is empty");
  if (BINARY.test(text)) throw unreadable("it is not text");
  const { language = null, cues, badLines, isFrameBased = false } = parseText(text);
  if (isTooLong(cues)) throw tooLong(LIMITS.transcriptCharacters);
  const normalized = normalizeCues(cues);
  if (normalized.length === 0) throw unreadable("it holds no cues");
  const skippedLines = countLineBreaks(decoded.text.slice(0, decoded.text.indexOf(text)));
  return {
    language: language !== null && isLanguageTag(language) ? language : null,
    cues: mergeRollingCues(normalized),
    warnings: [
      ...badLinesWarning(badLines.map((line) => line + skippedLines)),
      ...badBytesWarning(decoded),
    ],
    isFrameBased,
  };
}

function countLineBreaks(text: string): number {
  return text.split(/\r\n|\r|\n/).length - 1;
}

/**
 * Removes padding: DOS ends text with a control character, some programs fill blocks with zeros.
 */
function withoutPadding(text: string): string {
  let end = text.length;
  while (end > 0 && PADDING.test(text[end - 1]!)) end--;
  return text.slice(0, end).trimStart();
}

function parseText(text: string): ParsedCues {
  if (/^(?:\[\s*(?:[{[\]]|null\b)|\{\s*["}])/.test(text)) return parseJson(text);
  requireLength(text.length, MAX_TIMED_CHARACTERS);
  if (isSami(text)) return parseSami(text);
  if (isTtml(text)) return parseTtml(text);
  if (isAss(text)) return parseAss(text);
  if (isScc(text)) return parseScc(text);
  const other = OTHER_FORMATS.find(([, pattern]) => pattern.test(text.slice(0, 2000)));
  if (other) throw unreadable(`it is ${other[0]}: ${READABLE}`);
  if (isTimedText(text)) return { ...parseTimedText(text), language: parseWebVttLanguage(text) };
  const lineFormat = parseLineFormat(text);
  if (lineFormat) return lineFormat;
  requireLength(text.length);
  if (isUnknownTimedFormat(text))
    throw unreadable(`it has times in a format of its own: ${READABLE}`);
  const cues = splitSentences(text).map((sentence) => ({ start: NaN, end: NaN, text: sentence }));
  return { cues, badLines: [] };
}

const READABLE = "send SRT, WebVTT, TTML, ASS, SCC, SBV, LRC, TSV, JSON or plain text";
/** Share of lines with times above which a text isn't plain. */
const MIN_TIMED_SHARE = 0.3;

function isUnknownTimedFormat(text: string): boolean {
  const lines = text.split(/[\r\n]+/).filter((line) => line.trim() !== "");
  const timed = lines.filter((line) => TIMED_LINE.test(line.slice(0, 200))).length;
  return timed > 1 && timed > lines.length * MIN_TIMED_SHARE;
}

function parseJson(text: string): ParsedCues {
  if (isTooComplex(text)) throw unreadable("its JSON is too deep, or has too many objects");
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw unreadable("it looks like JSON but is not");
  }
  const parsed = parseJsonTranscript(value);
  if (!parsed)
    throw unreadable("JSON must be [{start, end, text}], Whisper's {segments} or Deepgram's");
  const { undated, ...rest } = parsed;
  return { ...rest, badLines: undated.map((cue) => lineOf(text, JSON.stringify(cue.text))) };
}

/** Returns the number of the line of a text in which another one begins. */
function lineOf(text: string, part: string): number {
  return text.slice(0, Math.max(0, text.indexOf(part))).split("\n").length;
}

/** Objects and lists in a JSON transcript: 12 hours of speech have some 130,000 words. */
const MAX_OBJECTS = 400_000;
/** Characters of SRT or WebVTT, with times and markup. */
const MAX_TIMED_CHARACTERS = 3 * LIMITS.transcriptCharacters;
/** Levels of objects and lists in a transcript: Deepgram's has nine. */
const MAX_DEPTH = 16;

/** Tests whether a JSON text nests too deep, or has more objects than any speech needs. */
function isTooComplex(text: string): boolean {
  let [depth, objects] = [0, 0];
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (character === '"') at = endOfString(text, at);
    else if (character === "}" || character === "]") depth--;
    else if (character === "{" || character === "[") {
      if (++depth > MAX_DEPTH || ++objects > MAX_OBJECTS) return true;
    }
  }
  return false;
}

/** Returns the index of the quotation mark that ends a JSON string. */
function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] === "\\") at++;
    else if (text[at] === '"') return at;
  }
  return text.length;
}

function requireLength(characters: number, max: number = LIMITS.transcriptCharacters): void {
  if (characters > max) throw tooLong(max);
}

function tooLong(max: number): AppError {
  return unreadable(`its text has more than ${max} characters`);
}

function unreadable(reason: string): AppError {
  return new AppError("bad_request", `The transcript can't be read: ${reason}.`);
}
