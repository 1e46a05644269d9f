import { AppError } from "../../errors.ts";
import { isLanguageTag } from "../../language-tag.ts";
import type { Cue } from "../../types.ts";
import { decodeText } from "./decode-text.ts";
import { parseJsonTranscript } from "./json.ts";
import { splitSentences } from "./plain-text.ts";
import { isTimedText, parseWebVttLanguage, parseTimedText } from "./srt-vtt.ts";

/** Contents of a transcript file. */
export interface Transcript {
  /** BCP 47 tag, null if the file has none. */
  language: string | null;
  /**
   * Cues by start time. They may overlap. Their text has line breaks, but no markup. All times of
   * plain text are NaN until `assignCueTimes`.
   */
  cues: Cue[];
}

/** Control characters that occur in binary files only. */
const BINARY = /(?!\s)\p{Cc}/u;
const PADDING = /[\s\p{Cc}]/u;
const OTHER_FORMAT =
  /^(?:\[Script Info\]|<\?xml|<!doctype|<html|<tt\b|<SAMI|\{\\rtf|\{\d+\}\{\d+\})/i;
/** Reading speed and minimum length, for the end of a cue without one. */
const READING = { charactersPerSecond: 15, minSeconds: 1 } as const;

/**
 * Parses a transcript file: SRT, WebVTT, JSON (`parseJsonTranscript`) or plain text, whose
 * sentences have no times. A cue without a valid end lasts until the next one starts, but no longer
 * than its text takes to read. Throws `bad_request` with the reason.
 */
export function parseTranscript(bytes: Uint8Array): Transcript {
  const text = withoutPadding(decodeText(bytes));
  if (text === "") throw unreadable("it is empty");
  if (BINARY.test(text)) throw unreadable("it is not text");
  if (OTHER_FORMAT.test(text)) throw unreadable("send SRT, WebVTT, JSON or plain text");
  const { language, cues } = parseText(text);
  const normalized = normalizeCues(cues);
  if (normalized.length === 0) throw unreadable("it holds no cues");
  return {
    language: language !== null && isLanguageTag(language) ? language : null,
    cues: normalized,
  };
}

/**
 * Removes padding: DOS ends text with a control character, some programs fill blocks with zeros.
 */
function withoutPadding(text: string): string {
  let end = text.length;
  while (end > 0 && PADDING.test(text[end - 1]!)) end--;
  return text.slice(0, end).trimStart();
}

function parseText(text: string): Transcript {
  if (/^(?:\[\s*[{[\]]|\{\s*["}])/.test(text)) return parseJson(text);
  if (isTimedText(text)) return { language: parseWebVttLanguage(text), cues: parseTimedText(text) };
  const cues = splitSentences(text).map((sentence) => ({ start: NaN, end: NaN, text: sentence }));
  return { language: null, cues };
}

function parseJson(text: string): Transcript {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw unreadable("it looks like JSON but is not");
  }
  const parsed = parseJsonTranscript(value);
  if (!parsed)
    throw unreadable("JSON must be [{start, end, text}], Whisper's {segments} or Deepgram's");
  return parsed;
}

/** Sorts cues by start, sets missing ends and drops cues without text. */
function normalizeCues(cues: Cue[]): Cue[] {
  const sorted = cues
    .map(({ start, end, text }) => ({ start: Math.max(0, start), end, text: normalizeText(text) }))
    .filter(({ text }) => text !== "")
    .toSorted((a, b) => a.start - b.start || 0);
  let [start, next] = [Infinity, Infinity];
  for (const cue of sorted.toReversed()) {
    if (cue.start < start) [start, next] = [cue.start, start];
    if (cue.end >= cue.start || Number.isNaN(cue.start)) continue;
    const readingSeconds = Math.max(
      READING.minSeconds,
      cue.text.length / READING.charactersPerSecond,
    );
    cue.end = Math.min(next, cue.start + readingSeconds);
  }
  return sorted;
}

/** Removes extra spaces, empty lines, control characters and lone surrogates. */
function normalizeText(text: string): string {
  return text
    .toWellFormed()
    .split(/[\r\n\u2028\u2029]+/)
    .map((line) => line.replaceAll(/[\s\p{Cc}]+/gu, " ").trim())
    .filter(Boolean)
    .join("\n");
}

function unreadable(reason: string): AppError {
  return new AppError("bad_request", `The transcript can't be read: ${reason}.`);
}
