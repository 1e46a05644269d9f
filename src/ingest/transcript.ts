import { type CaptionsFileFormat, parseText } from "media-captions";
import { z } from "zod";
import { AppError } from "../errors.ts";
import type { Cue } from "../types.ts";

/** Control characters that no text holds. */
const BINARY = /(?!\s)\p{Cc}/u;

const listed = z.array(z.object({ start: z.number(), end: z.number(), text: z.string() }));
const json = z.union([listed, z.object({ segments: listed }).transform((w) => w.segments)]);

/**
 * Reads a transcript: SRT, WebVTT, JSON (`[{start, end, text}]` or Whisper's `{segments: […]}`), or
 * plain text, whose paragraphs get no times yet (`spreadCues`). Cues come back in order, without
 * markup. Throws `bad_request` with what is wrong.
 */
export async function parseTranscript(bytes: Uint8Array): Promise<Cue[]> {
  const text = decode(bytes).trim();
  if (text === "") throw unreadable("it is empty");
  if (BINARY.test(text)) throw unreadable("it is not text");
  if (text.startsWith("WEBVTT")) return tidy(await timed(text, "vtt"));
  if (/^[[{]/.test(text)) return tidy(parseJson(text));
  if (/^\s*\d*\s*(\d+:)?\d\d:\d\d[,.]\d/m.test(text) && text.includes("-->")) {
    return tidy(await timed(text, "srt"));
  }
  return tidy(text.split(/\n\s*\n|\n/).map((line) => ({ start: NaN, end: NaN, text: line })));
}

/** Gives cues without times their share of the video, by their length in characters. */
export function spreadCues(cues: Cue[], durationSeconds: number): Cue[] {
  if (cues.every(({ start }) => !Number.isNaN(start))) return cues;
  const characters = cues.reduce((sum, { text }) => sum + text.length, 0);
  let read = 0;
  return cues.map(({ text }) => {
    const start = (read / characters) * durationSeconds;
    read += text.length;
    return { start, end: (read / characters) * durationSeconds, text };
  });
}

/** The words spoken from `start` to `end` (seconds), each cue in the stretch that holds its middle. */
export function wordsBetween(cues: Cue[], start: number, end: number): string {
  return cues
    .filter((cue) => {
      const middle = (cue.start + cue.end) / 2;
      return middle >= start && middle < end;
    })
    .map(({ text }) => text)
    .join(" ");
}

async function timed(text: string, type: CaptionsFileFormat): Promise<Cue[]> {
  const { cues } = await parseText(text, { type });
  return cues.map((cue) => ({ start: cue.startTime, end: cue.endTime, text: cue.text }));
}

function parseJson(text: string): Cue[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw unreadable("it looks like JSON but is not");
  }
  const parsed = json.safeParse(value);
  if (!parsed.success) throw unreadable("JSON must be [{start, end, text}] or {segments: […]}");
  return parsed.data;
}

function tidy(cues: Cue[]): Cue[] {
  const clean = cues
    .map((cue) => ({ ...cue, text: withoutMarkup(cue.text) }))
    .filter(({ text, start, end }) => text !== "" && !(end < start))
    .toSorted((a, b) => a.start - b.start || 0);
  if (clean.length === 0) throw unreadable("it holds no cues");
  return clean;
}

function withoutMarkup(text: string): string {
  return text
    .replaceAll(/<[^>\n]*>|\{\\[^}]*\}/g, "")
    .replaceAll(/\s+/g, " ")
    .trim();
}

function decode(bytes: Uint8Array): string {
  const [a, b] = bytes;
  if (a === 0xff && b === 0xfe) return new TextDecoder("utf-16le").decode(bytes);
  if (a === 0xfe && b === 0xff) return new TextDecoder("utf-16be").decode(bytes);
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: false }).decode(bytes);
  } catch {
    return new TextDecoder("latin1").decode(bytes);
  }
}

function unreadable(why: string): AppError {
  return new AppError("bad_request", `The transcript can't be read: ${why}.`);
}
