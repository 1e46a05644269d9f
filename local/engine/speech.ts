import type { TimeRange } from "./media-track.ts";

interface SpokenWord extends TimeRange {
  word: string;
  /** Probability, 0–1. */
  score: number;
}

/** A recognised passage of about a sentence; times are seconds of the audio. */
export interface SpokenSegment extends TimeRange {
  text: string;
  /** Empty if the model gives no word times. */
  words: SpokenWord[];
}

export interface Speech {
  /** ISO 639: the requested or detected language, or the only one of the model. */
  language: string | null;
  segments: SpokenSegment[];
}

export interface SpeechRecognizer {
  /**
   * Recognises speech in `ranges` of samples at `SAMPLE_RATE`. `language` is ISO 639, null if
   * unknown; one that the model lacks gives no segments. Errors: `bad_request` for a code that
   * doesn't exist, `failed`.
   */
  recognize(
    samples: Float32Array,
    ranges: readonly TimeRange[],
    language: string | null,
    signal: AbortSignal,
  ): Promise<Speech>;
}

/** A recogniser that is installed but not loaded yet. */
export interface FoundRecognizer {
  model: string;
  load(): Promise<SpeechRecognizer>;
}
