import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import type { Asset, Sightline } from "sightline";
import { openFile } from "sightline/node";
import { addFile } from "../../tools/ingest-files.ts";
import { photographPath } from "../../tools/sample/images.ts";
import { buildSamplePack, type SamplePack } from "../../tools/sample/pack.ts";
import type { Suite } from "../../tools/suite.ts";
import { FORMAT_KINDS, writeKind } from "../format-kinds.ts";
import { withRestarts } from "../service-restarts.ts";

const STOPS = 5;
const STOP_DELAY_MS = [400, 2500];
const TIMEOUT_MS = 5 * 60_000;

/** Seconds of the film whose conversion has several parts. */
const CONVERTED_SECONDS = 200;

/** Adds a film that is converted, whose conversion the restarts interrupt, and the pack. */
async function uploadFiles(sightline: Sightline, { files }: SamplePack, film: string) {
  await sightline.indices.create({ index_name: "pack" });
  await sightline.index("pack").videos.add({ video_file: await openFile(film) });
  for (const file of files) await addFile(sightline.index("pack"), file);
}

async function writeFilm(folder: string): Promise<string> {
  const path = join(folder, "film.avi");
  const scenes = (["nagasaki-boats", "dust-bowl-home"] as const).map((photo) => {
    return { image: photographPath(photo), seconds: CONVERTED_SECONDS / 2 };
  });
  await writeKind(
    path,
    FORMAT_KINDS.find(({ extension }) => extension === "avi")!,
    scenes,
    SILENCE,
  );
  return path;
}

const SILENCE = new Float32Array(0);

/** Waits until no asset is being ingested; returns how long that took, in seconds. */
async function waitUntilSettled(
  sightline: Sightline,
): Promise<{ assets: Asset[]; seconds: number }> {
  const start = Date.now();
  for (;;) {
    const { items: assets } = await sightline.index("pack").assets({ limit: 100 });
    const seconds = (Date.now() - start) / 1000;
    if (assets.every(({ state }) => ["ready", "failed"].includes(state))) {
      return { assets, seconds: Math.round(seconds) };
    }
    if (Date.now() - start > TIMEOUT_MS) throw new Error("Some assets never ended.");
    await wait(500);
  }
}

/** Counts the searches of the pack whose first hit is the expected file. */
async function countHits(sightline: Sightline, { searches }: SamplePack): Promise<number> {
  const firsts = await Promise.all(
    searches.map(async ({ query, expectedFile }) => {
      const { segments } = await sightline.index("pack").search(query);
      return segments[0]?.title === expectedFile;
    }),
  );
  return firsts.filter(Boolean).length;
}

export const suite: Suite = {
  summary: `ingest of the sample pack and of a converted film, ${STOPS} restarts: is anything missing?`,
  async run(options) {
    const pack = await buildSamplePack();
    const folder = await mkdtemp(join(tmpdir(), "sightline-restarts-"));
    const film = await writeFilm(folder);
    return withRestarts(options, async (start) => {
      let service = await start();
      try {
        await uploadFiles(service.sightline, pack, film);
        for (let i = 0; i < STOPS; i++) {
          const [minDelayMs, maxDelayMs] = STOP_DELAY_MS as [number, number];
          await wait(minDelayMs + ((maxDelayMs - minDelayMs) * i) / STOPS);
          await service.stop();
          service = await start();
        }
        const { assets, seconds } = await waitUntilSettled(service.sightline);
        const converted = assets.find(({ working_copy: copy }) => copy !== null);
        const { counts } = await service.sightline.indices.get("pack");
        const ready = assets.filter(({ state }) => state === "ready").length;
        const segments = assets.reduce((sum, asset) => sum + asset.segments, 0);
        const json = {
          stops: STOPS,
          files: pack.files.length + 1,
          converted_seconds: converted?.duration_seconds ?? 0,
          assets: assets.length,
          ready,
          segments,
          counted_segments: counts.segments,
          searches: pack.searches.length,
          first_hits: await countHits(service.sightline, pack),
          seconds_after_last_start: seconds,
        };
        return { table: [json], json };
      } finally {
        await service.stop();
        await rm(folder, { recursive: true });
      }
    });
  },
};
