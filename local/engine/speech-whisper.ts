import { closeSync, openSync, readSync } from "node:fs";
import { basename, join } from "node:path";
import { SAMPLE_RATE } from "./audio-samples.ts";
import { EngineError } from "./errors.ts";
import { runProgram } from "./program.ts";
import {
  splitRanges,
  groupRanges,
  concatSamples,
  type SpeechChunk,
  toAudioRange,
} from "./speech-chunks.ts";
import { dropHallucinations } from "./speech-clean.ts";
import type { FoundRecognizer, SpeechRecognizer, SpokenSegment } from "./speech.ts";

/** Maximum length of a chunk: Whisper's window is 30 seconds. */
const MAX_CHUNK_SECONDS = 28;
/** Seconds between the starts of chunks on the clock of `whisper-process.ts`. */
export const CHUNK_SPACING_SECONDS = 60;

const PROCESS = join(import.meta.dirname, "whisper-process.ts");
const LOAD_MS = 120_000;
/** Size of the vocabulary of multilingual models; English models have fewer tokens. */
const MULTILINGUAL_TOKENS = 51_865;

/**
 * Runs a Whisper model (Radford et al., 2022) in whisper.cpp's format by FFmpeg's filter. It runs
 * in a process of its own, because whisper.cpp exits its process on a bad file and can't be
 * interrupted.
 */
export function findWhisper(file: string): FoundRecognizer {
  const model = basename(file, ".bin").replace(/^ggml-/, "whisper-");
  return { model, load: () => loadWhisper(file) };
}

async function loadWhisper(file: string): Promise<SpeechRecognizer> {
  // Too short to be transcribed, long enough to make Whisper load the model.
  const silence = new Float32Array(SAMPLE_RATE * 0.05);
  const { stderr } = await runWhisper(file, "en", [silence], AbortSignal.timeout(LOAD_MS));
  if (stderr.includes("no tensors loaded")) throw new Error(describeDamage(file));
  const isEnglish = countTokens(file) < MULTILINGUAL_TOKENS;
  return {
    async recognize(samples, ranges, requestedLanguage, signal) {
      if (isEnglish && requestedLanguage !== null && requestedLanguage !== "en")
        return { language: "en", segments: [] };
      const chunks = groupRanges(
        splitRanges(samples, ranges, MAX_CHUNK_SECONDS),
        MAX_CHUNK_SECONDS,
      );
      const chunkSamples = chunks.map((chunk) => concatSamples(samples, chunk));
      const language = isEnglish ? "en" : (requestedLanguage ?? "auto");
      const { stdout, stderr } = await runWhisper(file, language, chunkSamples, signal);
      if (stderr.includes("unknown language")) {
        throw new EngineError("bad_request", `Whisper knows no language "${language}".`);
      }
      const detectedLanguage = language === "auto" ? findLanguage(stderr) : language;
      return {
        language: detectedLanguage,
        segments: dropHallucinations(readSegments(stdout, chunks)),
      };
    },
  };
}

/** Runs the process. Errors: `Error` that says how to fix a model that can't run. */
async function runWhisper(
  file: string,
  language: string,
  chunks: readonly Float32Array<ArrayBuffer>[],
  signal: AbortSignal,
) {
  const lengths = chunks.map((chunk) => String(chunk.length));
  const bytes = Buffer.concat(chunks.map((chunk) => new Uint8Array(chunk.buffer)));
  const args = [PROCESS, file, language, ...lengths];
  const ended = await runProgram(process.execPath, args, { bytes, signal });
  if (ended.succeeded && !ended.stderr.includes("Failed to process audio")) return ended;
  const missing = /^(?:Error: )?(Whisper needs .*)$/m.exec(ended.stderr)?.[1];
  throw new Error(missing ?? describeDamage(file));
}

function describeDamage(file: string): string {
  return `${basename(file)} is damaged or no Whisper model: pull it again.`;
}

/**
 * Parses the filter's JSON lines, whose texts aren't escaped, to segments at their times in the
 * audio. Segments in the silence between ranges are dropped.
 */
export function readSegments(lines: string, chunks: readonly SpeechChunk[]): SpokenSegment[] {
  const segments: SpokenSegment[] = [];
  for (const [, from, to, text = ""] of lines.matchAll(
    // bounded: what FFmpeg's filter writes of a file of sound
    /^\{"start":(\d+),"end":(\d+),"text":"(.*)"\}$/gm,
  )) {
    const [start, end] = [Number(from) / 1000, Number(to) / 1000];
    const index = Math.floor(start / CHUNK_SPACING_SECONDS);
    const chunk = chunks[index];
    const chunkStart = index * CHUNK_SPACING_SECONDS;
    const range =
      chunk && toAudioRange(chunk, { start: start - chunkStart, end: end - chunkStart });
    if (range) segments.push({ ...range, text: text.trim(), words: [] });
  }
  return segments;
}

/** Returns the language detected in most chunks. */
function findLanguage(log: string): string | null {
  const counts = new Map<string, number>();
  for (const [, language = ""] of log.matchAll(/auto-detected language: (\w+)/g)) {
    counts.set(language, (counts.get(language) ?? 0) + 1);
  }
  return [...counts].toSorted(([, a], [, b]) => b - a)[0]?.[0] ?? null;
}

/** Reads the vocabulary size, the first number after the magic number. */
function countTokens(file: string): number {
  const head = Buffer.alloc(8);
  const opened = openSync(file, "r");
  try {
    readSync(opened, head);
  } finally {
    closeSync(opened);
  }
  return head.readInt32LE(4);
}
