import { existsSync } from "node:fs";
import { mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AddedAsset } from "sightline";
import { addFile } from "../../tools/ingest-files.ts";
import { measureCpuSeconds, measureResidentMib } from "../../tools/processes.ts";
import { type Service, withService } from "../../tools/service.ts";
import { round, type Suite, type SuiteOptions } from "../../tools/suite.ts";
import { type Decoder, findDecoder } from "../ingest/decoding.ts";
import { type IsolateMemory, monitorIsolate } from "../ingest/isolate.ts";
import {
  MEDIA_STEPS,
  type MediaMeasurement,
  type MediaStep,
  measureMediaSteps,
} from "../ingest/media-part.ts";
import { writeGeneratedVideo } from "../ingest/minutes.ts";

const WORKER = "bench/ingest/media-worker.ts";
const MIB = 2 ** 20;
/** Name of the Worker in local/wrangler.toml. */
const WORKER_NAME = "sightline-local";
/** Words in the command lines of the stack's processes that work on media. */
const [RUNTIME, ENGINE] = ["workerd", "local/engine/server.ts"];
/** Longer videos run the media part only: models take the same time for every minute. */
const MAX_MINUTES_WITH_MODELS = 30;

/** Measurements of several videos, ingested one after another in one service. */
interface IngestMeasurement {
  media: MediaMeasurement[];
  bytes: number;
  decodeSeconds: number;
  /** CPU seconds of the media part and of plain decoding. */
  work: { media: number; decode: number };
  /** Seconds from upload to searchable, for all videos; null if not measured. */
  seconds: number | null;
  /** Memory after the media part: the Worker's isolate, and the processes, which hold more. */
  isolate: IsolateMemory;
  memory: ProcessMemory;
  memoryWithModels: ProcessMemory | null;
}

/** Peak resident memory of processes in MiB. */
interface ProcessMemory {
  worker: number;
  engine: number;
}

/**
 * Measures the same videos on the same machine: their media part, plain decoding, and the whole
 * ingest.
 */
function measure(
  paths: string[],
  decoder: Decoder,
  options: SuiteOptions,
): Promise<IngestMeasurement> {
  const { signal, log } = options;
  const run = async (service: Service): Promise<IngestMeasurement> => {
    const { url } = service;
    const media: MediaMeasurement[] = [];
    const work = { media: 0, decode: 0 };
    let [bytes, decodeSeconds, seconds] = [0, 0, 0];
    await fetch(`${url}/hold`, { method: "POST", signal });
    const measureMedia = async () => {
      for (const [i, path] of paths.entries()) {
        const { asset_id } = await upload(service, `paused-${i}`, path);
        const before = await measureStackCpuSeconds();
        media.push(await measureMediaSteps(url, asset_id, signal));
        work.media += (await measureStackCpuSeconds()) - before;
        decodeSeconds += await measureSeconds(async () => {
          work.decode += await decoder.decode(path, signal);
        });
        bytes += (await stat(path)).size;
        log(`${path}: ${media.at(-1)!.segments} segments`);
      }
    };
    const isolate = await monitorIsolate(WORKER_NAME, () => fetch(`${url}/health`), measureMedia);
    const memory = await measurePeakMemory();
    const minutes = sum(media, (part) => part.minutes);
    const measured = { media, bytes, decodeSeconds, work, isolate, memory };
    if (minutes > MAX_MINUTES_WITH_MODELS) {
      return { ...measured, seconds: null, memoryWithModels: null };
    }
    await fetch(`${url}/go`, { method: "POST", signal });
    for (const [i, path] of paths.entries()) {
      seconds += await measureSeconds(async () => {
        const [ended] = await service.ingest(`video-${i}`, [{ path, kind: "video" }]);
        if (ended?.state !== "ready") throw new Error(`${path}: ${ended?.message}`);
      });
    }
    const memoryWithModels = await measurePeakMemory();
    return { ...measured, seconds, memoryWithModels };
  };
  return withService(options, run, { entry: WORKER, inspect: true });
}

async function upload({ sightline }: Service, index: string, path: string): Promise<AddedAsset> {
  await sightline.indices.create({ index_name: index });
  return addFile(sightline.index(index), { path, kind: "video" });
}

async function measureSeconds(work: () => Promise<void>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return (performance.now() - startedAt) / 1000;
}

async function measurePeakMemory(): Promise<ProcessMemory> {
  const peakMib = async (word: string) =>
    Math.max(...(await measureResidentMib(word, "peak")).values());
  return { worker: await peakMib(RUNTIME), engine: await peakMib(ENGINE) };
}

async function measureStackCpuSeconds(): Promise<number> {
  return (await measureCpuSeconds(RUNTIME)) + (await measureCpuSeconds(ENGINE));
}

function sum(media: MediaMeasurement[], of: (part: MediaMeasurement) => number): number {
  return media.reduce((all, part) => all + of(part), 0);
}

function toRow(name: string, measured: IngestMeasurement) {
  const { media, bytes, decodeSeconds, work, seconds, isolate, memory } = measured;
  const { memoryWithModels } = measured;
  const { peakMib, retainedMib } = isolate;
  const minutes = sum(media, (part) => part.minutes);
  const step = (...names: MediaStep[]) =>
    names.reduce((all, each) => all + sum(media, (part) => part.seconds[each]), 0);
  const mib = ({ worker, engine }: ProcessMemory) =>
    `${Math.round(worker)} / ${Math.round(engine)}`;
  return {
    name,
    minutes: round(minutes, 1),
    segments: sum(media, ({ segments }) => segments),
    mb: round(bytes / MIB, 1),
    media_seconds_per_minute: round(step(...MEDIA_STEPS) / minutes),
    shot_detection_seconds_per_minute: round(step("detect_shots") / minutes),
    keyframes_seconds_per_minute: round(step("keyframes") / minutes),
    decode_seconds_per_minute: round(decodeSeconds / minutes),
    media_to_decode_ratio: round(step(...MEDIA_STEPS) / decodeSeconds),
    media_cpu_seconds_per_minute: round(work.media / minutes),
    cpu_to_decode_ratio: round(work.media / work.decode),
    all_seconds_per_minute: seconds === null ? "" : round(seconds / minutes, 1),
    isolate_mib_peak_and_retained: `${Math.round(peakMib)} / ${Math.round(retainedMib)}`,
    runtime_and_engine_mib: mib(memory),
    runtime_and_engine_mib_with_models: memoryWithModels === null ? "" : mib(memoryWithModels),
    reads_per_minute: round(sum(media, ({ reads }) => reads) / minutes, 1),
    bytes_read_to_size_ratio: round(sum(media, ({ readBytes }) => readBytes) / bytes),
    frames_per_hour: Math.round((sum(media, ({ frames }) => frames) * 60) / minutes),
  };
}

async function listClips(dataDir: string): Promise<string[]> {
  const folder = join(dataDir, "videos");
  if (!existsSync(folder)) return [];
  const names = (await readdir(folder)).filter((name) => /\.(mp4|mkv)$/.test(name));
  return names.sort().map((name) => join(folder, name));
}

export const suite: Suite = {
  summary: "time, memory and reads per minute of ingested video, next to plain decoding (Linux)",
  async run(options) {
    const folder = await mkdtemp(join(tmpdir(), "sightline-ingest-"));
    try {
      const decoder = await findDecoder();
      options.log(`Decoder: ${decoder.name}.`);
      const rows: ReturnType<typeof toRow>[] = [];
      for (const minutes of options.minutes) {
        const path = join(folder, `${minutes}.mp4`);
        await writeGeneratedVideo(path, minutes);
        rows.push(toRow(`${minutes} min`, await measure([path], decoder, options)));
        await rm(path);
      }
      const clips = await listClips(options.dataDir);
      if (clips.length > 0) {
        rows.push(toRow(`${clips.length} clips`, await measure(clips, decoder, options)));
      }
      return { table: rows, json: { decoder: decoder.name, videos: rows } };
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  },
};
