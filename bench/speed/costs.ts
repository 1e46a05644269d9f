import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import type { SearchRequest, Sightline } from "sightline";
import { MODELS, PRICES, STORAGE_PRICES } from "../../src/config.ts";
import { measureCpuSeconds } from "../../tools/processes.ts";
import { type Service, withService } from "../../tools/service.ts";
import { round, type Suite, type SuiteOptions } from "../../tools/suite.ts";
import { writeGeneratedVideo } from "../ingest/minutes.ts";

const SEARCHES = 200;
/**
 * Results of a plain search: so few that they are among the first hundred vectors, though the video
 * repeats its scenes, which are then one result.
 */
const TOP_K = 3;
/** Searches of each other kind. */
const OTHER_SEARCHES = 5;
const MILLION = 1e6;
const CPU_MS_PRICE = 0.02e-6; // Workers Paid; read 2026-11-23
const RUNTIME = "workerd";
const IMAGE_DIMENSIONS = "dimensions_queried, of an image model";

const SUBJECTS = ["boat", "house", "valley", "story", "harbour", "storm", "snow", "traveller"];
const PLACES = ["by the river", "at night", "in the mountains", "on a field", "near the door"];

/** Names of operations whose count times price is a line, in the API's spelling. */
const PRICED = {
  frames: PRICES.frames,
  images: PRICES.images,
  neurons: PRICES.neurons,
  dimensions_queried: PRICES.dimensionsQueried,
  rows_read: PRICES.rowsRead,
  rows_written: PRICES.rowsWritten,
  object_requests: PRICES.objectRequests,
  bucket_reads: PRICES.bucketReads,
  bucket_writes: PRICES.bucketWrites,
  requests: PRICES.requests,
  queue_operations: PRICES.queueOperations,
} as const;

type Counts = Record<string, number>;

interface Line {
  of: "an hour of video" | "a million searches" | "a search";
  what: string;
  count: number;
  usd: number;
}

export const suite: Suite = {
  summary:
    "what an hour of video (of --minutes of a generated one) and a million searches cost by the " +
    "price table, from the operations that the service counts; and a search with boxes and masks",
  run: async (options) => {
    const folder = await mkdtemp(join(tmpdir(), "sightline-costs-"));
    try {
      const minutes = options.minutes.at(-1)!;
      const path = join(folder, "generated.mp4");
      await writeGeneratedVideo(path, minutes);
      return await withService(options, (service) => measure(service, path, minutes, options));
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  },
};

async function measure(service: Service, path: string, minutes: number, { log }: SuiteOptions) {
  const { sightline } = service;
  const ingest = await measureOperations(sightline, async () => {
    const [ended] = await service.ingest("film", [{ path, kind: "video" }]);
    if (ended?.state !== "ready") throw new Error(`${path}: ${ended?.message}`);
  });
  const { segments } = await sightline.stats();
  log(`${segments} segments`);
  const hour = toLines("an hour of video", ingest, 60 / minutes);
  if (ingest["audio_seconds"] === 0) hour.push(speechLine());
  hour.push(storageLine(segments, 60 / minutes));
  const measureSearches = (count: number, fields: SearchRequest) =>
    measureOperations(sightline, async () => {
      for (let i = 0; i < count; i++) {
        await sightline.index("film").search({ query: queryOf(i), top_k: TOP_K, ...fields });
      }
    });
  await measureSearches(1, {});
  const search = await measureSearches(SEARCHES, {});
  const million = toSearchLines(search, MILLION / SEARCHES);
  const costOf = async (fields: SearchRequest) =>
    sum(toLines("a search", await measureSearches(OTHER_SEARCHES, fields), 1 / OTHER_SEARCHES));
  const others = {
    deep: await costOf({ top_k: 500 }),
    with_boxes: await costOf({ use_boxes: true }),
    with_boxes_and_masks: await costOf({ use_boxes: true, use_masks: true }),
  };
  const lines = [...hour, ...million];
  const totals = {
    usd_per_hour_of_video: sum(hour),
    usd_per_million_searches: sum(million.filter(({ what }) => what !== IMAGE_DIMENSIONS)),
    usd_per_million_searches_with_images: sum(million),
  };
  const toRow = ({ count, usd, ...line }: Line) => ({
    ...line,
    count: round(count, 0),
    usd: round(usd, 4),
  });
  return {
    table: [
      ...lines.map(toRow),
      ...Object.entries(totals).map(([of, usd]) => ({
        of,
        what: "all",
        count: 1,
        usd: round(usd),
      })),
      ...Object.entries(others).map(([what, usd]) => ({
        of: "a search",
        what,
        count: 1,
        usd: round(usd, 6),
      })),
    ],
    json: { minutes, segments, usd_per_search: others, ...totals, lines },
  };
}

/** Made different by a number, so that no vector of a query is in the cache. */
const queryOf = (i: number) =>
  `${SUBJECTS[i % SUBJECTS.length]!} ${PLACES[i % PLACES.length]!} ${Math.random()}`;

/** Lines of plain searches. Only a deployment with an image model queries its vectors. */
function toSearchLines(counts: Counts, scale: number): Line[] {
  const text = SEARCHES * MODELS.embedText.dimensions;
  const image = counts["dimensions_queried"]! - text;
  return [
    ...toLines("a million searches", { ...counts, dimensions_queried: text }, scale),
    {
      of: "a million searches",
      what: IMAGE_DIMENSIONS,
      count: image * scale,
      usd: image * scale * PRICES.dimensionsQueried,
    },
  ];
}

/** Returns the operations of `work`, and the CPU time of the runtime with its stand-ins. */
async function measureOperations(sightline: Sightline, work: () => Promise<void>): Promise<Counts> {
  const before = await readCounts(sightline);
  await work();
  const after = await readCounts(sightline);
  return Object.fromEntries(
    Object.entries(after).map(([name, count]) => [name, count - before[name]!]),
  );
}

/** Reads the counts, once what a request has just counted is recorded, too. */
async function readCounts(sightline: Sightline): Promise<Counts> {
  for (let last = ""; ; await wait(6000)) {
    const { operations, neurons_estimate } = (await sightline.stats()).usage.today;
    const ours = { ...operations, rows_read: 0, rows_written: 0, requests: 0, bucket_reads: 0 };
    const current = JSON.stringify(ours); // without what reading the counts adds
    if (current === last) {
      const cpu_ms = (await measureCpuSeconds(RUNTIME)) * 1000;
      return { ...operations, neurons: neurons_estimate, cpu_ms };
    }
    last = current;
  }
}

function toLines(of: Line["of"], counts: Counts, scale: number): Line[] {
  return Object.entries({ ...PRICED, cpu_ms: CPU_MS_PRICE }).map(([what, price]) => {
    const count = counts[what]! * scale;
    return { of, what, count, usd: count * price };
  });
}

/** Returns the cost of an hour of speech, for a machine that has no speech recogniser. */
function speechLine(): Line {
  const count = 60 * MODELS.transcribe.neuronsPerMinute;
  return { of: "an hour of video", what: "neurons of speech", count, usd: count * PRICES.neurons };
}

/** Returns the cost of storing the segments of an hour for a month, without the file. */
function storageLine(segments: number, scale: number): Line {
  const { bucketByte, databaseByte, dimension, segment } = STORAGE_PRICES;
  const usd =
    segment.bucketBytes * bucketByte +
    segment.databaseBytes * databaseByte +
    segment.dimensions * dimension;
  const count = segments * scale;
  return { of: "an hour of video", what: "segments, stored a month", count, usd: count * usd };
}

const sum = (lines: Line[]) => lines.reduce((total, { usd }) => total + usd, 0);
