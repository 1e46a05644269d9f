import { LIMITS } from "../../config.ts";
import { isTooLong, normalizeCues } from "../../cues.ts";
import { AppError, type Failure } from "../../errors.ts";
import { parseJsonText } from "../../json-parse.ts";
import { isLanguageTag } from "../../language-tag.ts";
import { trimEndOf } from "../../trim-end.ts";
import type { Cue } from "../../types.ts";
import { addBadLine, MAX_NAMED_LINES, type ParsedCues, splitLines } from "./cue-text.ts";
import { mergeRollingCues, splitIntoCues } from "./cue-times.ts";
import { decodeText } from "./decode-text.ts";
import { isEbuStl, parseEbuStl } from "./ebu-stl.ts";
import { parseJsonTranscript } from "./json.ts";
import { isAss, parseAss, parseLineFormat } from "./line-formats.ts";
import { isScc, parseScc } from "./scc.ts";
import { isTimedText, parseTimedText, parseWebVttLanguage } from "./srt-vtt.ts";
import { isTtml, parseTtml } from "./ttml.ts";

export interface Transcript {
  /** BCP 47 tag, null if the file has none. */
  language: string | null;
  /**
   * Cues by start time. They may overlap. Their text has line breaks, but no markup. All times of
   * plain text are NaN until `assignCueTimes`.
   */
  cues: Cue[];
  warnings: Failure[];
  /** Whether times are frames at `NOMINAL_FPS`: `toVideoFps` makes them seconds. */
  isFrameBased: boolean;
}

/** Control characters of binary files, and their share above which a file is one. */
const CONTROLS = /(?!\s)\p{Cc}/gu;
const MAX_CONTROL_SHARE = 0.01;
const PADDING = /[\s\p{Cc}]/u;
type Signatures = readonly (readonly [name: string, beginning: RegExp])[];
/** Formats that are named when they are refused: by their bytes in hexadecimal digits. */
const BINARY_FORMATS: Signatures = [
  ["VobSub", /^000001ba/],
  ["PGS", /^5047.{16}(?:1[4-7]|80)00/],
  ["MP4", /^0000.{4}66747970/],
  [
    "tx3g",
    /^00.{2,1500}0000.{4}(?:7374796c|686c6974|68636c72|74626f78|626c6e6b|646c6179|6b726f6b)/,
  ],
  ["ZIP", /^504b0304/],
  ["UTF-32", /^(?:fffe0000|0000feff|(?:(?!00)..000000){4}|(?:000000(?!00)..){4})/],
];
/** The same by their text. */
const TEXT_FORMATS: Signatures = [
  ["VobSub", /^# VobSub index file/],
  ["RTF", /^\{\\rtf/],
  ["PDF", /^%PDF/],
  ["SAMI", /^<sami[\s>]/i],
  ["HTML", /^<(?:!doctype\s+html|html)\b/i],
  ["XML other than TTML", /^<(?:\?xml|!doctype|[a-z][\w:.-]{0,40}[\s>])/i],
  ["Spruce STL", /^\d{2}:\d{2}:\d{2}:\d{2}\s{0,9},\s{0,9}\d{2}:\d{2}:\d{2}:\d{2}\s{0,9},/m],
];
const TIMED_NAME = /\.(?:vtt|srt|sbv|sub|ass|ssa|ttml|dfxp|scc|smi|lrc|stl)$/i;
/** A line that begins as one of a timed format that isn't known. */
const TIMED_LINE =
  /^(?:\d{1,4}\s{0,9}[\t,;|]?\s{0,9})?[[({<]?\s{0,9}(?:\d{1,3}:\d{2}|\d{1,9}[\t,;|]\s{0,9}\d{1,9}[\t,;|]|\d{1,9}[\])}]\s{0,9}[[({]\d)/;

const MIN_TIMED_SHARE = 0.3;

/**
 * Parses a transcript file of any format in docs/formats.md, in the encoding that is given or
 * detected. The sentences of a plain text have no times. Throws `bad_request` with the reason, also
 * for a timed format that isn't known, by its content or its name: its numbers aren't words.
 */
export function parseTranscript(
  bytes: Uint8Array,
  encoding?: string,
  fileName: string = "",
): Transcript {
  refuseOther(BINARY_FORMATS, Buffer.from(bytes.subarray(0, 1000)).toString("hex"));
  if (isEbuStl(bytes)) return toTranscript(parseEbuStl(bytes), fileName);
  const decoded = decodeText(bytes, encoding);
  const content = decoded.text.trimStart();
  const skippedLines = countLineBreaks(decoded.text.slice(0, -content.length || undefined));
  // DOS ends text with a control character, some programs fill blocks with zeros.
  const parsed = parseText(trimEndOf(content, PADDING));
  const badLines = parsed.badLines.map((line) => line + skippedLines);
  const transcript = toTranscript({ ...parsed, badLines }, fileName);
  if (decoded.badLine !== null) {
    const subject = `Line ${decoded.badLine} of the transcript has a byte`;
    transcript.warnings.push(
      malformed(`${subject} that isn't ${decoded.encoding}: it is shown as �.`),
    );
  }
  return transcript;
}

/** Checks what was parsed, sorts it, and warns of lines that could not be read as written. */
function toTranscript(
  { language = null, cues, badLines, isFrameBased = false }: ParsedCues,
  fileName: string,
): Transcript {
  const name = TIMED_NAME.exec(fileName.trim())?.[0];
  if (name !== undefined && cues.length > 0 && cues.every(({ start }) => Number.isNaN(start))) {
    throw unreadable(`its name ends with ${name}, but it has no times`);
  }
  if (isTooLong(cues)) throw tooLong(LIMITS.transcriptCharacters, "characters");
  if (cues.length > LIMITS.transcriptCues) throw tooLong(LIMITS.transcriptCues, "cues");
  const normalized = normalizeCues(cues);
  if (normalized.length === 0) throw unreadable("it holds no cues");
  const warnings: Failure[] = [];
  if (badLines.length > 0) {
    const others = badLines.length - MAX_NAMED_LINES;
    const lines = badLines.slice(0, MAX_NAMED_LINES).join(", ");
    const subject = `Line${badLines.length > 1 ? "s" : ""} ${lines}`;
    const rest = `${others > 0 ? ` and ${others} more` : ""} of the transcript can't be read`;
    warnings.push(malformed(`${subject}${rest} as written: check the times around it.`));
  }
  const tag = language !== null && isLanguageTag(language) ? language : null;
  return { language: tag, cues: mergeRollingCues(normalized), warnings, isFrameBased };
}

function malformed(message: string): Failure {
  return { code: "transcript_malformed", message };
}

function countLineBreaks(text: string): number {
  let count = 0;
  for (let at = 0; at < text.length; at++) {
    if (text[at] === "\n" || (text[at] === "\r" && text[at + 1] !== "\n")) count++;
  }
  return count;
}

function parseText(decoded: string): ParsedCues {
  if (decoded === "") throw unreadable("it is empty");
  const controls = decoded.length - decoded.replaceAll(CONTROLS, "").length;
  if (controls > decoded.length * MAX_CONTROL_SHARE && !isTimedText(decoded)) {
    throw unreadable("it is not text");
  }
  const text = decoded.replaceAll("\0", "\uFFFD");
  if (/^(?:\[\s*(?:[{[\]]|null\b)|\{\s*["}])/.test(text)) return parseJson(text);
  requireLength(text.length, MAX_TIMED_CHARACTERS);
  if (countLineBreaks(text) >= LIMITS.transcriptLines) {
    throw tooLong(LIMITS.transcriptLines, "lines");
  }
  if (isTtml(text)) return parseTtml(text);
  if (isAss(text)) return parseAss(text);
  if (isScc(text)) return parseScc(text);
  refuseOther(TEXT_FORMATS, text.slice(0, 2000));
  if (isTimedText(text)) return { ...parseTimedText(text), language: parseWebVttLanguage(text) };
  const lineFormat = parseLineFormat(text);
  if (lineFormat) return lineFormat;
  requireLength(text.length);
  const lines = splitLines(text).filter((line) => line.trim() !== "");
  const timed = lines.filter((line) => TIMED_LINE.test(line.trim())).length;
  if (timed > 1 && timed > lines.length * MIN_TIMED_SHARE) {
    throw unreadable(`it has times in a format of its own: ${READABLE}`);
  }
  const cues = splitIntoCues(text).map((sentence) => ({ start: NaN, end: NaN, text: sentence }));
  return { cues, badLines: [] };
}

const READABLE = "send SRT, WebVTT, TTML, ASS, SCC, EBU STL, SBV, LRC, TSV, JSON or plain text";

function refuseOther(formats: Signatures, head: string): void {
  const other = formats.find(([, beginning]) => beginning.test(head));
  if (other) throw unreadable(`it is ${other[0]}: ${READABLE}`);
}

function parseJson(text: string): ParsedCues {
  const json = parseJsonText(text, MAX_VALUES);
  if ("reason" in json) throw unreadable(`it looks like JSON, but ${json.reason}`);
  const parsed = parseJsonTranscript(json.value);
  if (!parsed)
    throw unreadable("JSON must be [{start, end, text}], Whisper's {segments} or Deepgram's");
  const { undated, ...rest } = parsed;
  const badLines: number[] = [];
  for (const { text: own } of undated) {
    const isNamed = badLines.length < MAX_NAMED_LINES;
    addBadLine(badLines, text, isNamed ? text.indexOf(JSON.stringify(own)) : 0);
  }
  return { ...rest, badLines };
}

/** Values in a JSON transcript: 12 hours of speech have some 130,000 words. */
const MAX_VALUES = 1_200_000;
/** Characters of SRT or WebVTT, with times and markup. */
const MAX_TIMED_CHARACTERS = 3 * LIMITS.transcriptCharacters;

function requireLength(characters: number, max: number = LIMITS.transcriptCharacters): void {
  if (characters > max) throw tooLong(max, "characters");
}

function tooLong(max: number, unit: string): AppError {
  return unreadable(`its text has more than ${max} ${unit}`);
}

function unreadable(reason: string): AppError {
  return new AppError("bad_request", `The transcript can't be read: ${reason}.`);
}
