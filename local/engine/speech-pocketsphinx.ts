import { accessSync, constants } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { basename, delimiter, dirname, join } from "node:path";
import type { TimeRange } from "./media-track.ts";
import { runProgram } from "./program.ts";
import { splitRanges } from "./speech-chunks.ts";
import type { FoundRecognizer, SpeechRecognizer, SpokenSegment } from "./speech.ts";
import type { WorkFolder } from "./work-folder.ts";

const DEFAULT_PROGRAM = "pocketsphinx_batch";
/** Path of the model in Debian's package pocketsphinx-en-us. */
const MODEL = "/usr/share/pocketsphinx/model/en-us";
const MODEL_FILES = ["en-us/mdef", "en-us.lm.bin", "cmudict-en-us.dict"];
/** Seconds. Long utterances with pauses are recognised better than each interval alone. */
const MAX_UTTERANCE_SECONDS = 28;
const MAX_PAUSE_SECONDS = 2;
/** Frames per second: the unit of the program's times. */
const FRAME_RATE = 100;

/**
 * Finds CMU PocketSphinx as packaged by Debian, with its model of American English; null if it
 * isn't installed or `POCKETSPHINX`, the name of its program, is empty. It recognises words without
 * punctuation, many of them wrongly.
 */
export function findPocketsphinx(folder: WorkFolder): FoundRecognizer | null {
  const { PATH = "", POCKETSPHINX: name = DEFAULT_PROGRAM } = process.env;
  if (name === "") return null;
  const folders = PATH.split(delimiter).filter(Boolean);
  const program = folders.map((item) => join(item, name)).find(isExecutable);
  if (!program || !MODEL_FILES.every((file) => isReadable(join(MODEL, file)))) return null;
  const recognizer = createRecognizer(program, folder);
  return { model: "pocketsphinx-en-us", load: () => Promise.resolve(recognizer) };
}

function createRecognizer(program: string, folder: WorkFolder): SpeechRecognizer {
  return {
    async recognize(samples, ranges, language, signal) {
      if (language !== null && language !== "en") return { language: "en", segments: [] };
      const voiced = splitRanges(samples, ranges, MAX_UTTERANCE_SECONDS);
      const utterances = mergeRanges(voiced);
      const segments = await folder.withFile((audioFile) =>
        folder.withFile((listFile) =>
          folder.withFile(async (ctmFile) => {
            await writeFile(audioFile, toPcm(samples));
            await writeFile(listFile, toList(utterances, basename(audioFile)));
            const args = listArguments(dirname(audioFile), listFile, ctmFile);
            const { succeeded, stderr } = await runProgram(program, args, { signal });
            if (!succeeded) throw new Error(`${basename(program)} failed: ${stderr.slice(-500)}`);
            return readWords(await readFile(ctmFile, "utf8"), utterances, voiced);
          }),
        ),
      );
      return { language: "en", segments };
    },
  };
}

function listArguments(folder: string, listFile: string, ctmFile: string): string[] {
  const settings = {
    adcin: "yes",
    cepdir: folder,
    cepext: "",
    ctl: listFile,
    ctm: ctmFile,
    hmm: join(MODEL, "en-us"),
    lm: join(MODEL, "en-us.lm.bin"),
    dict: join(MODEL, "cmudict-en-us.dict"),
    // The utterances are split already; removing silence would shift their times.
    remove_silence: "no",
    logfn: "/dev/null",
  };
  return Object.entries(settings).flatMap(([name, value]) => [`-${name}`, value]);
}

/** Merges ranges that a short pause separates. */
function mergeRanges(ranges: readonly TimeRange[]): TimeRange[] {
  const merged: TimeRange[] = [];
  for (const { start, end } of ranges) {
    const last = merged.at(-1);
    if (last && start - last.end <= MAX_PAUSE_SECONDS && end - last.start <= MAX_UTTERANCE_SECONDS)
      last.end = end;
    else merged.push({ start, end });
  }
  return merged;
}

/** Writes one line per utterance: the file, its first and last frame, and its index. */
function toList(utterances: readonly TimeRange[], file: string): string {
  const lines = utterances.map(
    ({ start, end }, at) => `${file} ${toFrame(start)} ${toFrame(end)} ${at}\n`,
  );
  return lines.join("");
}

/**
 * Parses recognised words to one segment per voiced range; words in pauses are noise and dropped.
 * The lines are NIST's CTM: the utterance's index, the channel, the word's start and length in
 * seconds, the word with the number of its pronunciation in brackets, and its probability.
 */
export function readWords(
  lines: string,
  utterances: readonly TimeRange[],
  voiced: readonly TimeRange[],
): SpokenSegment[] {
  const segments = new Map<TimeRange, SpokenSegment>();
  for (const line of lines.split("\n")) {
    const [utterance, , from, length, pronounced = "", score] = line.trim().split(/\s+/);
    const utteranceStart = utterances[Number(utterance)]?.start;
    const word = pronounced.replace(/\(\d+\)$/, "").toLowerCase();
    if (utteranceStart === undefined || !/^[\p{L}\p{N}]/u.test(word)) continue;
    const start = toFrame(utteranceStart) / FRAME_RATE + Number(from);
    const end = start + Number(length);
    const range = voiced.find(
      (item) => item.start <= (start + end) / 2 && (start + end) / 2 < item.end,
    );
    if (!range) continue;
    const segment = segments.get(range) ?? { start, end, text: "", words: [] };
    segment.words.push({ word, start, end, score: Math.min(1, Number(score)) });
    segment.text = segment.words.map((item) => item.word).join(" ");
    segment.end = end;
    segments.set(range, segment);
  }
  return [...segments.values()];
}

function toFrame(seconds: number): number {
  return Math.floor(seconds * FRAME_RATE);
}

/** Converts samples to 16-bit little-endian PCM. */
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
