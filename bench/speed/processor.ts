import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import sharp from "sharp";
import type { MediaFile } from "../../tools/media-files.ts";
import { measureCpuSeconds } from "../../tools/processes.ts";
import { type Service, withService } from "../../tools/service.ts";
import { round, type Suite } from "../../tools/suite.ts";

/** Words in the command lines of the stack's processes. */
const PARTS = { worker: "workerd", engine: "local/engine/server.ts" };
const SMALL_PHOTOS = 12;
const LARGE_PHOTOS = 6;
const CLIPS = 6;

interface Kind {
  kind: string;
  /** What the seconds are divided by: a photo, or a minute. */
  per: "photo" | "minute";
  files: MediaFile[];
}

async function measure(service: Service, { kind, per, files }: Kind) {
  const before = await measureParts();
  const outcomes = await service.ingest(kind.replaceAll(" ", "-"), files);
  const after = await measureParts();
  const minutes = outcomes.reduce((sum, { seconds }) => sum + seconds, 0) / 60;
  const count = per === "photo" ? files.length : minutes;
  const secondsOf = (part: keyof typeof before) => round((after[part] - before[part]) / count);
  const [worker, engine, rest] = [secondsOf("worker"), secondsOf("engine"), secondsOf("rest")];
  return {
    kind,
    per,
    count: round(count),
    worker,
    engine,
    rest,
    all: round(worker + engine + rest),
  };
}

/** CPU seconds so far of the Worker, the engine, and everything else with this process. */
async function measureParts() {
  const worker = await measureCpuSeconds(PARTS.worker);
  const engine = await measureCpuSeconds(PARTS.engine);
  const { user, system } = process.cpuUsage();
  const rest = (await measureCpuSeconds("")) - worker - engine + (user + system) / 1e6;
  return { worker, engine, rest };
}

/** Resizes a photo to a file of `folder`. */
async function resizePhoto(path: string, size: { width: number; height: number }, to: string) {
  await sharp(path)
    .resize({ ...size, fit: "cover" })
    .jpeg({ quality: 90 })
    .toFile(to);
  return { path: to, kind: "image" as const };
}

async function listFiles(folder: string, pattern: RegExp, count?: number): Promise<string[]> {
  const names = (await readdir(folder)).filter((name) => pattern.test(name)).toSorted();
  return names.slice(0, count).map((name) => join(folder, name));
}

async function prepare(dataDir: string, folder: string): Promise<Kind[]> {
  const resizeAll = (paths: string[], name: string, width: number) =>
    Promise.all(
      paths.map((path, i) =>
        resizePhoto(path, { width, height: width * 0.75 }, join(folder, `${name}-${i}.jpg`)),
      ),
    );
  const toVideos = (paths: string[]) => paths.map((path) => ({ path, kind: "video" as const }));
  const photos = await listFiles(join(dataDir, "photos"), /\.jpg$/, SMALL_PHOTOS + LARGE_PHOTOS);
  const [small, large] = [photos.slice(0, SMALL_PHOTOS), photos.slice(SMALL_PHOTOS)];
  const clips = await listFiles(join(dataDir, "videos"), /\.mp4$/, CLIPS);
  const lectures = await listFiles(join(dataDir, "speech"), /^narrated.*\.mp4$/);
  return [
    { kind: "warm up", per: "photo", files: await resizeAll(small.slice(0, 1), "first", 320) },
    { kind: "12 MP", per: "photo", files: await resizeAll(large, "large", 4_000) },
    { kind: "small", per: "photo", files: await resizeAll(small, "small", 640) },
    { kind: "clips", per: "minute", files: toVideos(clips) },
    { kind: "lectures", per: "minute", files: toVideos(lectures) },
  ];
}

export const suite: Suite = {
  summary: "processor seconds for each photo, minute of clips and minute of lectures of <DIR>",
  async run(options) {
    const folder = await mkdtemp(join(tmpdir(), "sightline-processor-"));
    try {
      const kinds = await prepare(options.dataDir, folder);
      const rows = await withService(options, async (service) => {
        const table: Awaited<ReturnType<typeof measure>>[] = [];
        for (const kind of kinds) {
          table.push(await measure(service, kind));
          options.log(JSON.stringify(table.at(-1)));
        }
        return table.slice(1);
      });
      return { table: rows, json: { kinds: rows } };
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  },
};
