import { createRandom, type Random } from "../../tools/random-numbers.ts";
import type { SegmentFields } from "../../tools/segment-batch.ts";
import { type Service, withService } from "../../tools/service.ts";
import { quantile, round, type Suite } from "../../tools/suite.ts";
import { interleaveQueries } from "../search/interleave.ts";
import { LOADING_WORKER } from "../search/load-batch.ts";
import { createSegments, createText, loadSegments } from "../search/random-segments.ts";
import { type SearchSystem, type TimedSearch, timeSearch } from "../search/systems.ts";

/** Segments of the indices that are measured. */
const SIZES = [100, 1000];
/** Other indices in the same deployment, and the segments of each. */
const [OTHERS, OTHER_SIZE] = [10, 20_000];
const [WARM_UP, QUERIES] = [20, 200];
const QUERY_WORDS = 3;

export const suite: Suite = {
  summary:
    "p50 of new searches of an index of 100 and of 1,000 segments, alone and beside ten other " +
    "indices of 20,000 (or of one number in --sizes), in two services at once",
  run: (options) => {
    const otherSize = options.sizes.length === 1 ? options.sizes[0]! : OTHER_SIZE;
    const entry = LOADING_WORKER;
    const besideOthers = async (alone: Service, beside: Service) => {
      const random = createRandom(1);
      for (const size of SIZES) {
        const segments = createSegments(size, random);
        for (const service of [alone, beside]) await create(service, `own-${size}`, segments);
      }
      for (let i = 0; i < OTHERS; i++) {
        options.log(`Loading index ${i + 1} of ${OTHERS}`);
        await create(beside, `other-${i}`, createSegments(otherSize, random));
      }
      const rows = [];
      for (const size of SIZES) {
        rows.push(await compare(alone, beside, size, random, options.signal));
      }
      const [ratio_100, ratio_1000] = rows.map(({ ratio }) => ratio);
      const json = { ratio_100, ratio_1000, others: OTHERS, other_size: otherSize, rows };
      return { table: rows, json };
    };
    return withService(
      options,
      (alone) => withService(options, (beside) => besideOthers(alone, beside), { entry }),
      { entry },
    );
  },
};

/** Measures searches of the same index in both services, in turn. */
async function compare(
  alone: Service,
  beside: Service,
  size: number,
  random: Random,
  signal: AbortSignal,
) {
  const systems = [toSystem("alone", alone, size), toSystem("beside", beside, size)];
  const queries = Array.from({ length: WARM_UP + QUERIES }, () => createText(QUERY_WORDS, random));
  const results = await interleaveQueries(systems, queries, signal);
  const median = (name: string, of: (result: TimedSearch) => number) =>
    quantile(results.get(name)!.slice(WARM_UP).map(of), 0.5);
  const rowsMs = ({ timing }: TimedSearch) => timing["hydrate"] ?? 0;
  const [aloneMs, besideMs] = systems.map(({ name }) => median(name, ({ ms }) => ms));
  return {
    segments: size,
    "alone, ms": round(aloneMs!, 1),
    "beside, ms": round(besideMs!, 1),
    ratio: round(besideMs! / aloneMs!, 3),
    "alone, rows": round(median("alone", rowsMs), 1),
    "beside, rows": round(median("beside", rowsMs), 1),
  };
}

function toSystem(name: string, { url, key }: Service, size: number): SearchSystem {
  const search = (query: string) =>
    timeSearch(
      `${url}/index/own-${size}/search`,
      { "x-api-key": key },
      { query, top_k: 10 },
      (json) =>
        (JSON.parse(json) as { segments: { segment_id: string }[] }).segments.map(
          ({ segment_id }) => segment_id,
        ),
    );
  return { name, processName: "workerd", search };
}

async function create(service: Service, index: string, segments: SegmentFields[]): Promise<void> {
  await service.sightline.indices.create({ index_name: index });
  await loadSegments(service, index, segments);
}
