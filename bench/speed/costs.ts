import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { MODELS, PRICES, STORAGE_PRICES } from "../../src/config.ts";
import type { Api } from "../../tools/api-client.ts";
import { type Service, withService } from "../../tools/service.ts";
import { round, type Suite, type SuiteOptions } from "../../tools/suite.ts";
import { writeGeneratedVideo } from "../ingest/minutes.ts";
import { measureCpuSeconds } from "../processes.ts";

const SEARCHES = 200;
/** Searches with boxes, and with boxes and masks, each of one page. */
const LOCALIZED_SEARCHES = 5;
const MILLION = 1e6;
const CPU_MS_PRICE = 0.02e-6; // Workers Paid; read 2026-11-23
const RUNTIME = "workerd";

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
  of: "an hour of video" | "a million searches";
  what: string;
  count: number;
  usd: number;
}

export const suite: Suite = {
  summary:
    "what an hour of video (of --minutes of a generated one) and a million searches cost by the " +
    "price table, from the operations that the service counts; and a page with boxes and masks",
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
  const { api } = service;
  const ingest = await measureOperations(api, async () => {
    const [ended] = await service.ingest("film", [{ path, kind: "video" }]);
    if (ended?.state !== "ready") throw new Error(`${path}: ${ended?.message}`);
  });
  const { segments } = await api.get<{ segments: number }>("/stats");
  log(`${segments} segments`);
  const hour = toLines("an hour of video", ingest, 60 / minutes);
  if (ingest["audio_seconds"] === 0) hour.push(speechLine());
  hour.push(storageLine(segments, 60 / minutes));
  await api.post("/index/film/search", { query: "warm up" });
  const search = await measureOperations(api, async () => {
    for (let i = 0; i < SEARCHES; i++) await api.post("/index/film/search", { query: queryOf(i) });
  });
  const million = toLines("a million searches", search, MILLION / SEARCHES);
  const localized = async (fields: object) =>
    sum(toLines("a million searches", await measureLocalized(api, fields), 1 / LOCALIZED_SEARCHES));
  const [boxes, masks] = [
    await localized({ use_boxes: true }),
    await localized({ use_boxes: true, use_masks: true }),
  ];
  const lines = [...hour, ...million];
  const [perHour, perMillion] = [sum(hour), sum(million)];
  return {
    table: [
      ...lines.map(({ usd, count, ...line }) => ({
        ...line,
        count: round(count, 0),
        usd: round(usd, 4),
      })),
      { of: "an hour of video", what: "all", count: 1, usd: round(perHour, 3) },
      { of: "a million searches", what: "all", count: MILLION, usd: round(perMillion) },
      { of: "a search with boxes", what: "all", count: 1, usd: round(boxes, 6) },
      { of: "a search with boxes and masks", what: "all", count: 1, usd: round(masks, 6) },
    ],
    json: {
      minutes,
      segments_per_hour: round((segments * 60) / minutes, 0),
      usd_per_search_with_boxes: boxes,
      usd_per_search_with_boxes_and_masks: masks,
      usd_per_hour_of_video: perHour,
      usd_per_million_searches: perMillion,
      lines,
    },
  };
}

const queryOf = (i: number) =>
  `${SUBJECTS[i % SUBJECTS.length]!} ${PLACES[i % PLACES.length]!} ${i}`;

const measureLocalized = (api: Api, fields: object) =>
  measureOperations(api, async () => {
    for (let i = 0; i < LOCALIZED_SEARCHES; i++) {
      await api.post("/index/film/search", { query: SUBJECTS[i]!, ...fields });
    }
  });

/** Returns the operations of `work`, and the CPU time of the runtime with its stand-ins. */
async function measureOperations(api: Api, work: () => Promise<void>): Promise<Counts> {
  const before = await readCounts(api);
  await work();
  const after = await readCounts(api);
  return Object.fromEntries(
    Object.entries(after).map(([name, count]) => [name, count - before[name]!]),
  );
}

interface Stats {
  usage: { today: { neurons_estimate: number; operations: Counts } };
}

/** Reads the counts, once what a request has just counted is recorded, too. */
async function readCounts(api: Api): Promise<Counts> {
  for (let last = ""; ; await wait(6000)) {
    const { operations, neurons_estimate } = (await api.get<Stats>("/stats")).usage.today;
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
