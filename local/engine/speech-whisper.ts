import { closeSync, openSync, readSync } from "node:fs";
import { basename, join } from "node:path";
import { EngineError } from "./errors.ts";
import { runProgram } from "./program.ts";
import { dropInvented } from "./speech-clean.ts";
import type { FoundRecognizer, SpeechRecognizer, SpokenSegment } from "./speech.ts";
import { cutSpans, groupSpans, joinSamples, type Stretch, toSound } from "./speech-stretches.ts";
import { SOUND_RATE } from "./sound.ts";

/** Whisper hears 30 seconds at once. */
const MAX_STRETCH = 28;
/** Seconds: each stretch begins at a multiple of this on the clock of `whisper-process.ts`. */
export const STRETCH_EVERY = 60;

const PROCESS = join(import.meta.dirname, "whisper-process.ts");
const LOAD_MS = 120_000;
/** More tokens than English models have. */
const MULTILINGUAL = 51_865;

/**
 * A Whisper model (Radford et al., 2022) in whisper.cpp's format, by FFmpeg's filter. It runs in a
 * process of its own, because whisper.cpp ends its process when it dislikes a file, and can't be
 * interrupted.
 */
export function findWhisper(file: string): FoundRecognizer {
  const model = basename(file, ".bin").replace(/^ggml-/, "whisper-");
  return { model, load: () => loadWhisper(file) };
}

async function loadWhisper(file: string): Promise<SpeechRecognizer> {
  // Too short for Whisper to listen, long enough to make it load.
  const soundless = new Float32Array(SOUND_RATE * 0.05);
  const { stderr } = await runWhisper(file, "en", [soundless], AbortSignal.timeout(LOAD_MS));
  if (stderr.includes("no tensors loaded")) throw new Error(describeDamage(file));
  const isEnglish = countTokens(file) < MULTILINGUAL;
  return {
    async recognize(samples, spans, wanted, signal) {
      if (isEnglish && wanted !== null && wanted !== "en") return { language: "en", segments: [] };
      const stretches = groupSpans(cutSpans(samples, spans, MAX_STRETCH), MAX_STRETCH);
      const joined = stretches.map((stretch) => joinSamples(samples, stretch));
      const language = isEnglish ? "en" : (wanted ?? "auto");
      const { stdout, stderr } = await runWhisper(file, language, joined, signal);
      if (stderr.includes("unknown language")) {
        throw new EngineError("bad_request", `Whisper knows no language "${language}".`);
      }
      const heard = language === "auto" ? findLanguage(stderr) : language;
      return { language: heard, segments: dropInvented(readSegments(stdout, stretches)) };
    },
  };
}

/** Errors: one that says what to do where the model can't be run. */
async function runWhisper(
  file: string,
  language: string,
  stretches: readonly Float32Array<ArrayBuffer>[],
  signal: AbortSignal,
) {
  const lengths = stretches.map((stretch) => String(stretch.length));
  const bytes = Buffer.concat(stretches.map((stretch) => new Uint8Array(stretch.buffer)));
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
 * The segments in the filter's lines of JSON, whose texts it doesn't escape, at their times in the
 * sound; those in the silence between spans are left out.
 */
export function readSegments(lines: string, stretches: readonly Stretch[]): SpokenSegment[] {
  const segments: SpokenSegment[] = [];
  for (const [, from, to, text = ""] of lines.matchAll(
    /^\{"start":(\d+),"end":(\d+),"text":"(.*)"\}$/gm,
  )) {
    const [start, end] = [Number(from) / 1000, Number(to) / 1000];
    const place = Math.floor(start / STRETCH_EVERY);
    const stretch = stretches[place];
    const zero = place * STRETCH_EVERY;
    const span = stretch && toSound(stretch, { start: start - zero, end: end - zero });
    if (span) segments.push({ ...span, text: text.trim(), words: [] });
  }
  return segments;
}

/** What most stretches were heard in. */
function findLanguage(log: string): string | null {
  const counts = new Map<string, number>();
  for (const [, language = ""] of log.matchAll(/auto-detected language: (\w+)/g)) {
    counts.set(language, (counts.get(language) ?? 0) + 1);
  }
  return [...counts].toSorted(([, a], [, b]) => b - a)[0]?.[0] ?? null;
}

/** The size of the vocabulary, the first number after the file's magic one. */
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
