import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { TimeRange } from "../../src/time-range.ts";
import { quantile, round, type Suite } from "../../tools/suite.ts";
import { type RequestEngine, withEngine } from "../engine.ts";
import { countOverlapSeconds, countWordErrors, listStartOffsets } from "../transcript.ts";

interface Recording {
  file: string;
  /** Transcript without times, if `segments` is missing. */
  text?: string;
  /** Consecutive segments: pauses are part of them. */
  segments?: (TimeRange & { text: string })[];
}
interface Transcription {
  model: string;
  duration_seconds: number;
  segments: (TimeRange & { text: string })[];
}
interface VoiceActivity {
  intervals: TimeRange[];
}

async function measure(request: RequestEngine, folder: string, recording: Recording) {
  const bytes = await readFile(join(folder, recording.file));
  const startedAt = performance.now();
  const transcription = await request<Transcription>("/transcribe?language=en", bytes);
  const seconds = (performance.now() - startedAt) / 1000;
  const { intervals: spans } = await request<VoiceActivity>("/vad", bytes);
  const annotated = recording.segments ?? [];
  const reference = recording.text ?? annotated.map(({ text }) => text).join(" ");
  return {
    ...countWordErrors(reference, transcription.segments.map(({ text }) => text).join(" ")),
    file: recording.file,
    model: transcription.model,
    seconds,
    duration: transcription.duration_seconds,
    voiceSeconds: annotated.length ? sumSeconds(spans) : 0,
    speechSeconds: sumSeconds(annotated),
    overlapSeconds: countOverlapSeconds(annotated, spans),
    offsets: listStartOffsets(annotated, transcription.segments),
  };
}

function sumSeconds(spans: readonly TimeRange[]): number {
  return sum(spans.map(({ start, end }) => end - start));
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

export const suite: Suite = {
  summary: "speech recognition on <DIR>/speech: word error rate, start times, voice activity",
  async run({ dataDir, log, signal }) {
    const folder = join(dataDir, "speech");
    const recordings: Recording[] = JSON.parse(
      await readFile(join(folder, "manifest.json"), "utf8"),
    );
    const measured = await withEngine(signal, async (request) => {
      const all = [];
      for (const recording of recordings) {
        log(`${recording.file} …`);
        all.push(await measure(request, folder, recording));
      }
      return all;
    });
    const total = (pick: (one: (typeof measured)[number]) => number) => sum(measured.map(pick));
    const table = measured.map(({ file, wordCount, errorCount, seconds, duration, offsets }) => ({
      file,
      words: wordCount,
      word_error_rate: round(errorCount / wordCount, 3),
      real_time_factor: round(seconds / duration, 3),
      ...(offsets.length && { start_offset_seconds: round(quantile(offsets, 0.5)) }),
    }));
    const json = {
      model: measured[0]?.model ?? "",
      word_error_rate: round(total((one) => one.errorCount) / total((one) => one.wordCount), 3),
      real_time_factor: round(total((one) => one.seconds) / total((one) => one.duration), 3),
      files: measured.length,
      words: total((one) => one.wordCount),
      voice_precision: round(
        total((one) => one.overlapSeconds) / total((one) => one.voiceSeconds),
        3,
      ),
      // Below 1, because the annotated segments include pauses.
      voice_recall: round(
        total((one) => one.overlapSeconds) / total((one) => one.speechSeconds),
        3,
      ),
      start_offset_seconds: round(
        quantile(
          measured.flatMap((one) => one.offsets),
          0.5,
        ),
      ),
    };
    return { table, json };
  },
};
