import { accessSync, constants } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { basename, delimiter, dirname, join } from "node:path";
import type { Span } from "./media-track.ts";
import { runProgram } from "./program.ts";
import type { FoundRecognizer, SpeechRecognizer, SpokenSegment } from "./speech.ts";
import { cutSpans } from "./speech-stretches.ts";
import type { WorkFolder } from "./work-folder.ts";

const PROGRAM = "pocketsphinx_batch";
/** Where Debian's pocketsphinx-en-us puts it. */
const MODEL = "/usr/share/pocketsphinx/model/en-us";
const MODEL_FILES = ["en-us/mdef", "en-us.lm.bin", "cmudict-en-us.dict"];
/** Seconds. It recognises more in long utterances, pauses and all, than in each span by itself. */
const MAX_UTTERANCE = 28;
const MAX_PAUSE = 2;
/** What the program counts times in: frames a second. */
const FRAME_RATE = 100;

/**
 * CMU PocketSphinx as Debian packages it, with its model of American English: recognises words, not
 * sentences, and many of them wrongly. Null where it isn't installed.
 */
export function findPocketsphinx(folder: WorkFolder): FoundRecognizer | null {
  const folders = (process.env["PATH"] ?? "").split(delimiter).filter(Boolean);
  const program = folders.map((one) => join(one, PROGRAM)).find(isExecutable);
  if (!program || !MODEL_FILES.every((file) => isReadable(join(MODEL, file)))) return null;
  const recognizer = createRecognizer(program, folder);
  return { model: "pocketsphinx-en-us", load: () => Promise.resolve(recognizer) };
}

function createRecognizer(program: string, folder: WorkFolder): SpeechRecognizer {
  return {
    async recognize(samples, spans, language, signal) {
      if (language !== null && language !== "en") return { language: "en", segments: [] };
      const voiced = cutSpans(samples, spans, MAX_UTTERANCE);
      const utterances = joinSpans(voiced);
      const segments = await folder.withFile((sound) =>
        folder.withFile((list) =>
          folder.withFile(async (words) => {
            await writeFile(sound, toPcm(samples));
            await writeFile(list, toList(utterances, basename(sound)));
            const args = listArguments(dirname(sound), list, words);
            const { succeeded, stderr } = await runProgram(program, args, { signal });
            if (!succeeded) throw new Error(`${PROGRAM} failed: ${stderr.slice(-500)}`);
            return readWords(await readFile(words, "utf8"), utterances, voiced);
          }),
        ),
      );
      return { language: "en", segments };
    },
  };
}

function listArguments(folder: string, list: string, words: string): string[] {
  const settings = {
    adcin: "yes",
    cepdir: folder,
    cepext: "",
    ctl: list,
    ctm: words,
    hmm: join(MODEL, "en-us"),
    lm: join(MODEL, "en-us.lm.bin"),
    dict: join(MODEL, "cmudict-en-us.dict"),
    // The utterances are cut already, and a second cutter would shift their times.
    remove_silence: "no",
    logfn: "/dev/null",
  };
  return Object.entries(settings).flatMap(([name, value]) => [`-${name}`, value]);
}

/** Spans with short pauses between them become one. */
function joinSpans(spans: readonly Span[]): Span[] {
  const joined: Span[] = [];
  for (const { start, end } of spans) {
    const last = joined.at(-1);
    if (last && start - last.end <= MAX_PAUSE && end - last.start <= MAX_UTTERANCE) last.end = end;
    else joined.push({ start, end });
  }
  return joined;
}

/** One line an utterance: the file, its first and last frame, and its number. */
function toList(utterances: readonly Span[], file: string): string {
  const lines = utterances.map(
    ({ start, end }, at) => `${file} ${toFrame(start)} ${toFrame(end)} ${at}\n`,
  );
  return lines.join("");
}

/**
 * A segment of each voiced span that words were recognised in; those in the pauses are noise. The
 * lines are NIST's CTM: the utterance's number, the channel, the word's start and length in
 * seconds, the word with the number of its pronunciation in brackets, and its probability.
 */
export function readWords(
  lines: string,
  utterances: readonly Span[],
  voiced: readonly Span[],
): SpokenSegment[] {
  const segments = new Map<Span, SpokenSegment>();
  for (const line of lines.split("\n")) {
    const [utterance, , from, length, said = "", score] = line.trim().split(/\s+/);
    const zero = utterances[Number(utterance)]?.start;
    const word = said.replace(/\(\d+\)$/, "").toLowerCase();
    if (zero === undefined || !/^[\p{L}\p{N}]/u.test(word)) continue;
    const start = toFrame(zero) / FRAME_RATE + Number(from);
    const end = start + Number(length);
    const span = voiced.find(
      (one) => one.start <= (start + end) / 2 && (start + end) / 2 < one.end,
    );
    if (!span) continue;
    const segment = segments.get(span) ?? { start, end, text: "", words: [] };
    segment.words.push({ word, start, end, score: Math.min(1, Number(score)) });
    segment.text = segment.words.map((one) => one.word).join(" ");
    segment.end = end;
    segments.set(span, segment);
  }
  return [...segments.values()];
}

function toFrame(seconds: number): number {
  return Math.floor(seconds * FRAME_RATE);
}

/** 16-bit samples, the lower byte first. */
function toPcm(samples: Float32Array): Buffer {
  const bytes = Buffer.alloc(samples.length * 2);
  for (const [at, sample] of samples.entries()) {
    bytes.writeInt16LE(Math.max(-32_768, Math.min(32_767, Math.round(sample * 32_768))), at * 2);
  }
  return bytes;
}

function isExecutable(path: string): boolean {
  return allows(path, constants.X_OK);
}

function isReadable(path: string): boolean {
  return allows(path, constants.R_OK);
}

function allows(path: string, mode: number): boolean {
  try {
    accessSync(path, mode);
    return true;
  } catch {
    return false;
  }
}
