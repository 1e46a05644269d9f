import type { Ability } from "./ability.ts";
import { saveBody } from "./body.ts";
import { EngineError } from "./errors.ts";
import type { MediaStorage } from "./media-routes.ts";
import type { Span } from "./media-track.ts";
import type { Call, Reply, Routes } from "./routes.ts";
import { readSound, SOUND_RATE } from "./sound.ts";
import type { Speech, SpeechRecognizer } from "./speech.ts";
import type { VoiceDetector } from "./voice.ts";

interface Ears {
  media: Ability<void>;
  voice: Ability<VoiceDetector>;
  speech: Ability<SpeechRecognizer>;
}

interface Heard {
  samples: Float32Array;
  spans: Span[];
}

/**
 * Every body is a media file with ten minutes of sound or less. Times are seconds from the zero of
 * the file. Where nobody speaks, no recogniser is asked.
 */
export function createSpeechRoutes({ media, voice, speech }: Ears, storage: MediaStorage): Routes {
  async function hear(path: string, signal: AbortSignal): Promise<Heard> {
    const samples = await media.use((_, limited) => readSound(path, limited), signal);
    const spans = await voice.use((model, limited) => model.detect(samples, limited), signal);
    return { samples, spans };
  }
  const withFile = ({ request }: Call, work: (path: string) => Promise<Reply>) =>
    storage.folder.withFile(async (path) => {
      await saveBody(request, path, storage.maxBytes);
      return work(path);
    });
  return {
    "POST /voice": (call) =>
      withFile(call, async (path) => {
        const { samples, spans } = await hear(path, call.signal);
        const duration_seconds = toSeconds(samples);
        return { json: { model: voice.model, duration_seconds, spans: spans.map(roundTimes) } };
      }),
    "POST /transcribe": (call) => {
      const wanted = readLanguage(call.query);
      return withFile(call, async (path) => {
        const { samples, spans } = await hear(path, call.signal);
        const { language, segments }: Speech = spans.length
          ? await speech.use(
              (recognizer, signal) => recognizer.recognize(samples, spans, wanted, signal),
              call.signal,
            )
          : { language: wanted, segments: [] };
        const duration_seconds = toSeconds(samples);
        const timed = segments.map((one) =>
          Object.assign(roundTimes(one), { words: one.words.map(roundTimes) }),
        );
        return { json: { model: speech.model, language, duration_seconds, segments: timed } };
      });
    },
  };
}

/** ISO 639, as the first part of BCP 47 is; null where it isn't given. Errors: `bad_request`. */
function readLanguage(query: URLSearchParams): string | null {
  const language = query.get("language");
  if (language === null || /^[a-z]{2,3}$/.test(language)) return language;
  throw new EngineError("bad_request", '"language" is two or three small letters, such as en.');
}

function toSeconds(samples: Float32Array): number {
  return round(samples.length / SOUND_RATE);
}

function roundTimes<T extends Span>(timed: T): T {
  return { ...timed, start: round(timed.start), end: round(timed.end) };
}

/** To milliseconds. */
function round(seconds: number): number {
  return Math.round(seconds * 1000) / 1000;
}
