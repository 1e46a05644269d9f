import { LIMITS } from "../config.ts";
import { AppError } from "../errors.ts";
import type { Cue } from "../types.ts";
import { decodeText } from "./transcript-encoding.ts";
import { readJsonTranscript } from "./transcript-json.ts";
import { sentencesOf } from "./transcript-plain.ts";
import { isTimedText, languageOfWebVtt, readTimedText } from "./transcript-timed.ts";

/** What a file with a transcript says. */
export interface Transcript {
  /** As BCP 47 has it, where the file tells. */
  language: string | null;
  /**
   * In order of their starts; they may overlap. Lines of a cue are kept, markup isn't. Of plain text all
   * times are NaN (`timeCues`).
   */
  cues: Cue[];
}

/** Control characters that no text holds. */
const BINARY = /(?!\s)\p{Cc}/u;
const PADDING = /[\s\p{Cc}]/u;
const OTHER_FORMAT =
  /^(?:\[Script Info\]|<\?xml|<!doctype|<html|<tt\b|<SAMI|\{\\rtf|\{\d+\}\{\d+\})/i;
const LANGUAGE = /^[a-z]{2,3}(?:-[a-z0-9]{2,8})*$/i;
/** Of a cue without an end: what is read in a second, and the least that it lasts. */
const READING = { characters: 15, seconds: 1 } as const;

/**
 * Reads a transcript: SRT, WebVTT, JSON (`readJsonTranscript`), or plain text, whose sentences get no
 * times yet. Where a cue has no end, or one before its start, it lasts until the next begins, but no longer
 * than it takes to read. Throws `bad_request` with what is wrong.
 */
export function parseTranscript(bytes: Uint8Array): Transcript {
  const text = withoutPadding(decodeText(bytes));
  if (text === "") throw unreadable("it is empty");
  if (BINARY.test(text)) throw unreadable("it is not text");
  if (OTHER_FORMAT.test(text)) throw unreadable("send SRT, WebVTT, JSON or plain text");
  const { language, cues } = readText(text);
  const clean = tidy(cues);
  if (clean.length === 0) throw unreadable("it holds no cues");
  return { language: language !== null && isTag(language) ? language : null, cues: clean };
}

function isTag(language: string): boolean {
  return language.length <= LIMITS.languageCharacters && LANGUAGE.test(language);
}

/** DOS ends a text with a control character, and some fill a block with zeros. */
function withoutPadding(text: string): string {
  let end = text.length;
  while (end > 0 && PADDING.test(text[end - 1]!)) end--;
  return text.slice(0, end).trimStart();
}

function readText(text: string): Transcript {
  if (/^(?:\[\s*[{[\]]|\{\s*["}])/.test(text)) return parseJson(text);
  if (isTimedText(text)) return { language: languageOfWebVtt(text), cues: readTimedText(text) };
  const cues = sentencesOf(text).map((sentence) => ({ start: NaN, end: NaN, text: sentence }));
  return { language: null, cues };
}

function parseJson(text: string): Transcript {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw unreadable("it looks like JSON but is not");
  }
  const parsed = readJsonTranscript(value);
  if (!parsed)
    throw unreadable("JSON must be [{start, end, text}], Whisper's {segments} or Deepgram's");
  return parsed;
}

function tidy(cues: Cue[]): Cue[] {
  const inOrder = cues
    .map(({ start, end, text }) => ({ start: Math.max(0, start), end, text: tidyText(text) }))
    .filter(({ text }) => text !== "")
    .toSorted((a, b) => a.start - b.start || 0);
  let [start, next] = [Infinity, Infinity];
  for (const cue of inOrder.toReversed()) {
    if (cue.start < start) [start, next] = [cue.start, start];
    if (cue.end >= cue.start || Number.isNaN(cue.start)) continue;
    const read = Math.max(READING.seconds, cue.text.length / READING.characters);
    cue.end = Math.min(next, cue.start + read);
  }
  return inOrder;
}

/** Line by line without needless spaces, empty lines and what only JSON can smuggle in. */
function tidyText(text: string): string {
  return text
    .toWellFormed()
    .split(/[\r\n\u2028\u2029]+/)
    .map((line) => line.replaceAll(/[\s\p{Cc}]+/gu, " ").trim())
    .filter(Boolean)
    .join("\n");
}

function unreadable(why: string): AppError {
  return new AppError("bad_request", `The transcript can't be read: ${why}.`);
}
