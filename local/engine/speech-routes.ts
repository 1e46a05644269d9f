import { SAMPLE_RATE } from "./audio-samples.ts";
import type { Capability } from "./capability.ts";
import type { DecoderProcesses } from "./decoder-processes.ts";
import { EngineError } from "./errors.ts";
import { decodeBody, type MediaStorage } from "./media-routes.ts";
import type { TimeRange } from "./media-track.ts";
import type { Call, Routes } from "./route.ts";
import type { Speech, SpeechRecognizer } from "./speech.ts";
import type { VoiceActivityDetector } from "./vad.ts";

interface SpeechCapabilities {
  media: Capability<DecoderProcesses>;
  vad: Capability<VoiceActivityDetector>;
  speech: Capability<SpeechRecognizer>;
}

interface DetectedSpeech {
  samples: Float32Array;
  intervals: TimeRange[];
}

/**
 * Creates the routes of speech. Bodies are media files with at most ten minutes of audio. Times are
 * seconds from the zero of the file. Without voice activity no recogniser is called.
 */
export function createSpeechRoutes(
  { media, vad, speech }: SpeechCapabilities,
  storage: MediaStorage,
): Routes {
  async function detectSpeech(call: Call): Promise<DetectedSpeech> {
    const { bytes } = await decodeBody(call, media, storage, "samples", undefined);
    const samples = new Float32Array(new Uint8Array(bytes).buffer);
    const { signal } = call;
    const intervals = await vad.use((model, limited) => model.detect(samples, limited), signal);
    return { samples, intervals };
  }
  return {
    "POST /vad": async (call) => {
      const { samples, intervals } = await detectSpeech(call);
      const duration_seconds = toSeconds(samples);
      return { json: { model: vad.model, duration_seconds, intervals: intervals.map(roundTimes) } };
    },
    "POST /transcribe": async (call) => {
      const requestedLanguage = readLanguage(call.query);
      const { samples, intervals } = await detectSpeech(call);
      const { language, segments }: Speech = intervals.length
        ? await speech.use(
            (recognizer, signal) =>
              recognizer.recognize(samples, intervals, requestedLanguage, signal),
            call.signal,
          )
        : { language: requestedLanguage, segments: [] };
      const duration_seconds = toSeconds(samples);
      const timed = segments.map((segment) =>
        Object.assign(roundTimes(segment), { words: segment.words.map(roundTimes) }),
      );
      return { json: { model: speech.model, language, duration_seconds, segments: timed } };
    },
  };
}

/** Reads an ISO 639 code, the first subtag of BCP 47; null without one. Errors: `bad_request`. */
function readLanguage(query: URLSearchParams): string | null {
  const language = query.get("language");
  if (language === null || /^[a-z]{2,3}$/.test(language)) return language;
  throw new EngineError("bad_request", '"language" is two or three lowercase letters, such as en.');
}

function toSeconds(samples: Float32Array): number {
  return round(samples.length / SAMPLE_RATE);
}

function roundTimes<T extends TimeRange>(timed: T): T {
  return { ...timed, start: round(timed.start), end: round(timed.end) };
}

/** Rounds to milliseconds. */
function round(seconds: number): number {
  return Math.round(seconds * 1000) / 1000;
}
