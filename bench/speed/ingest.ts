import { existsSync } from "node:fs";
import { mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AddedAsset } from "../../scripts/demo/api-client.ts";
import { streamForm } from "../../scripts/demo/streamed-form.ts";
import { type Decoding, findDecoding } from "../ingest/decoding.ts";
import { type IsolateMemory, watchIsolate } from "../ingest/isolate.ts";
import {
  MEDIA_STEPS,
  type MediaPart,
  type MediaStep,
  takeMediaPart,
} from "../ingest/media-part.ts";
import { writeMinutes } from "../ingest/minutes.ts";
import { processorSeconds, residentMemory } from "../processes.ts";
import { type Service, withService } from "../service.ts";
import { round, type Suite, type SuiteOptions } from "../suite.ts";

const WORKER = "bench/ingest/media-worker.ts";
const MIB = 2 ** 20;
/** As local/wrangler.toml calls it. */
const WORKER_NAME = "sightline-local";
/** What is in the commands of the stack's processes that work on media. */
const [RUNTIME, ENGINE] = ["workerd", "local/engine/server.ts"];
/** Longer films are only taken apart: a model takes as long for each minute of them as of others. */
const MOST_MINUTES_WITH_MODELS = 30;

/** What it took to ingest some videos, one after another, in a service of their own. */
interface Measured {
  media: MediaPart[];
  bytes: number;
  decodeSeconds: number;
  /** For which processors worked, for both. */
  work: { media: number; decode: number };
  /** From the upload until it is searchable, of all. */
  seconds: number | null;
  /** After their media parts: of the Worker's isolate, and of processes, which hold more besides. */
  isolate: IsolateMemory;
  memory: Memory;
  memoryWithModels: Memory | null;
}

/** The most that a process has had, in MiB. */
interface Memory {
  worker: number;
  engine: number;
}

/** Of the same videos, on the same machine, one after the other: their media part, decoding them, all of it. */
function measure(paths: string[], decoding: Decoding, options: SuiteOptions): Promise<Measured> {
  const { signal, log } = options;
  const run = async (service: Service): Promise<Measured> => {
    const { url } = service;
    const media: MediaPart[] = [];
    const work = { media: 0, decode: 0 };
    let [bytes, decodeSeconds, seconds] = [0, 0, 0];
    await fetch(`${url}/hold`, { method: "POST", signal });
    const takeAll = async () => {
      for (const [i, path] of paths.entries()) {
        const { asset_id } = await upload(service, `held-${i}`, path);
        const before = await stackWork();
        media.push(await takeMediaPart(url, asset_id, signal));
        work.media += (await stackWork()) - before;
        decodeSeconds += await secondsOf(async () => {
          work.decode += await decoding.decode(path, signal);
        });
        bytes += (await stat(path)).size;
        log(`${path}: ${media.at(-1)!.segments} segments`);
      }
    };
    const isolate = await watchIsolate(WORKER_NAME, () => fetch(`${url}/health`), takeAll);
    const memory = await mostMemory();
    const minutes = sum(media, (part) => part.minutes);
    const measured = { media, bytes, decodeSeconds, work, isolate, memory };
    if (minutes > MOST_MINUTES_WITH_MODELS) {
      return { ...measured, seconds: null, memoryWithModels: null };
    }
    await fetch(`${url}/go`, { method: "POST", signal });
    for (const [i, path] of paths.entries()) {
      seconds += await secondsOf(async () => {
        const [ended] = await service.ingest(`film-${i}`, [{ path, kind: "video" }]);
        if (ended?.state !== "ready") throw new Error(`${path}: ${ended?.message}`);
      });
    }
    const memoryWithModels = await mostMemory();
    return { ...measured, seconds, memoryWithModels };
  };
  return withService(options, run, WORKER);
}

async function upload({ api }: Service, index: string, path: string): Promise<AddedAsset> {
  await api.post("/index", { index_name: index });
  const form = streamForm([{ name: "video_file", path }], () => undefined);
  return api.upload(`/index/${index}/video`, form);
}

async function secondsOf(work: () => Promise<void>): Promise<number> {
  const begin = performance.now();
  await work();
  return (performance.now() - begin) / 1000;
}

async function mostMemory(): Promise<Memory> {
  const most = async (word: string) =>
    Math.max(...(await residentMemory(word, "at most")).values());
  return { worker: await most(RUNTIME), engine: await most(ENGINE) };
}

async function stackWork(): Promise<number> {
  return (await processorSeconds(RUNTIME)) + (await processorSeconds(ENGINE));
}

function sum(media: MediaPart[], of: (part: MediaPart) => number): number {
  return media.reduce((all, part) => all + of(part), 0);
}

function toRow(name: string, measured: Measured) {
  const { media, bytes, decodeSeconds, work, seconds, isolate, memory } = measured;
  const { memoryWithModels } = measured;
  const minutes = sum(media, (part) => part.minutes);
  const step = (...names: MediaStep[]) =>
    names.reduce((all, each) => all + sum(media, (part) => part.seconds[each]), 0);
  const mib = ({ worker, engine }: Memory) => `${Math.round(worker)} / ${Math.round(engine)}`;
  return {
    name,
    minutes: round(minutes, 1),
    segments: sum(media, ({ segments }) => segments),
    mb: round(bytes / MIB, 1),
    media_seconds_per_minute: round(step(...MEDIA_STEPS) / minutes),
    look_seconds_per_minute: round(step("look") / minutes),
    keyframes_seconds_per_minute: round(step("keyframes") / minutes),
    decode_seconds_per_minute: round(decodeSeconds / minutes),
    media_over_decode: round(step(...MEDIA_STEPS) / decodeSeconds),
    media_work_per_minute: round(work.media / minutes),
    work_over_decode: round(work.media / work.decode),
    all_seconds_per_minute: seconds === null ? "" : round(seconds / minutes, 1),
    mib_of_isolate_most_and_held: `${Math.round(isolate.most)} / ${Math.round(isolate.held)}`,
    mib_of_runtime_and_engine: mib(memory),
    with_models: memoryWithModels === null ? "" : mib(memoryWithModels),
    reads_per_minute: round(sum(media, ({ reads }) => reads) / minutes, 1),
    read_over_size: round(sum(media, ({ readBytes }) => readBytes) / bytes),
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
  summary: "seconds, memory and reads to ingest a minute of video; beside decoding it (Linux)",
  async run(options) {
    const folder = await mkdtemp(join(tmpdir(), "sightline-films-"));
    try {
      const decoding = await findDecoding();
      options.log(`Decoding by ${decoding.by}.`);
      const rows: ReturnType<typeof toRow>[] = [];
      for (const minutes of options.minutes) {
        const path = join(folder, `${minutes}.mp4`);
        await writeMinutes(path, minutes);
        rows.push(toRow(`${minutes} min`, await measure([path], decoding, options)));
        await rm(path);
      }
      const clips = await listClips(options.dataDir);
      if (clips.length > 0) {
        rows.push(toRow(`${clips.length} clips`, await measure(clips, decoding, options)));
      }
      return { table: rows, json: { decoding: decoding.by, videos: rows } };
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  },
};
