import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { type AskEngine, withEngine } from "../engine.ts";
import { quantile, round, type Suite } from "../suite.ts";
import { countShared, countWordErrors, type Interval, listOffsets } from "../transcript.ts";

interface Recording {
  file: string;
  /** What is said, where it isn't told when. */
  text?: string;
  /** One follows the other, so that they hold the pauses too. */
  segments?: (Interval & { text: string })[];
}
interface Heard {
  model: string;
  duration_seconds: number;
  segments: (Interval & { text: string })[];
}
interface Voice {
  spans: Interval[];
}

async function measure(ask: AskEngine, folder: string, recording: Recording) {
  const bytes = await readFile(join(folder, recording.file));
  const began = performance.now();
  const heard = await ask<Heard>("/transcribe?language=en", bytes);
  const seconds = (performance.now() - began) / 1000;
  const { spans } = await ask<Voice>("/voice", bytes);
  const truth = recording.segments ?? [];
  const said = recording.text ?? truth.map(({ text }) => text).join(" ");
  return {
    ...countWordErrors(said, heard.segments.map(({ text }) => text).join(" ")),
    file: recording.file,
    model: heard.model,
    seconds,
    duration: heard.duration_seconds,
    voice: truth.length ? countLength(spans) : 0,
    told: countLength(truth),
    shared: countShared(truth, spans),
    offsets: listOffsets(truth, heard.segments),
  };
}

function countLength(spans: readonly Interval[]): number {
  return sum(spans.map(({ start, end }) => end - start));
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

export const suite: Suite = {
  summary: "what the engine hears in <DIR>/speech: word error rate, times, voices",
  async run({ dataDir, log, signal }) {
    const folder = join(dataDir, "speech");
    const recordings: Recording[] = JSON.parse(
      await readFile(join(folder, "manifest.json"), "utf8"),
    );
    const measured = await withEngine(signal, async (ask) => {
      const all = [];
      for (const recording of recordings) {
        log(`${recording.file} …`);
        all.push(await measure(ask, folder, recording));
      }
      return all;
    });
    const total = (pick: (one: (typeof measured)[number]) => number) => sum(measured.map(pick));
    const table = measured.map(({ file, words, errors, seconds, duration, offsets }) => ({
      file,
      words,
      word_error_rate: round(errors / words, 3),
      real_time_factor: round(seconds / duration, 3),
      ...(offsets.length && { start_offset_seconds: round(quantile(offsets, 0.5)) }),
    }));
    const json = {
      model: measured[0]?.model ?? "",
      word_error_rate: round(total((one) => one.errors) / total((one) => one.words), 3),
      real_time_factor: round(total((one) => one.seconds) / total((one) => one.duration), 3),
      files: measured.length,
      words: total((one) => one.words),
      voice_precision: round(total((one) => one.shared) / total((one) => one.voice), 3),
      // Less than one, because the true segments hold the pauses.
      voice_recall: round(total((one) => one.shared) / total((one) => one.told), 3),
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
