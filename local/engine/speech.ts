import type { Span } from "./media-track.ts";
import { findPocketsphinx } from "./speech-pocketsphinx.ts";
import { findWhisper } from "./speech-whisper.ts";
import type { WorkFolder } from "./work-folder.ts";

interface SpokenWord extends Span {
  word: string;
  /** From 0 to 1. */
  score: number;
}

/** A sentence or so that somebody says. Times in seconds of the sound. */
export interface SpokenSegment extends Span {
  text: string;
  /** Empty where the model gives no times of words. */
  words: SpokenWord[];
}

export interface Speech {
  /** ISO 639: what was asked for or heard, or the only one that the model knows. */
  language: string | null;
  segments: SpokenSegment[];
}

export interface SpeechRecognizer {
  /**
   * What is said in `spans` of the samples at `SOUND_RATE`. `language` is ISO 639, null where it
   * isn't known; nothing is heard in one that the model hasn't learnt. Errors: `bad_request` for
   * a language that there isn't, `failed`.
   */
  recognize(
    samples: Float32Array,
    spans: readonly Span[],
    language: string | null,
    signal: AbortSignal,
  ): Promise<Speech>;
}

/** A recogniser that is there but not loaded yet. */
export interface FoundRecognizer {
  model: string;
  load(): Promise<SpeechRecognizer>;
}

/** The Whisper file, where there is one; else what is installed; null where nothing is. */
export function findRecognizer(
  whisperFile: string | null,
  folder: WorkFolder,
): FoundRecognizer | null {
  return whisperFile === null ? findPocketsphinx(folder) : findWhisper(whisperFile);
}
