import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { syntheticId } from "../../tools/segment-batch.ts";
import { type Service, withService } from "../../tools/service.ts";
import { round, type Suite } from "../../tools/suite.ts";
import { loadBatch, LOADING_WORKER } from "../search/load-batch.ts";

/**
 * Sets of pairs, each with an index of its own. The first two were written without sight of the
 * code. Faults of the kinds that they and the third, a set of later, showed were mended. The fourth
 * and the fifth are the halves of a set that the author of those changes wrote before reading the
 * code: the fourth was read while mending, the fifth run once at the end. The last four were
 * written by others, who had seen neither the code nor the other sets. The first three of them were
 * read while mending after their first run, the ninth while choosing what to keep of that.
 */
const FILES = [
  "development",
  "held-out",
  "third",
  "fourth",
  "fifth",
  "sixth",
  "seventh",
  "eighth",
  "ninth",
];
const TOP_K = 10;

/** Pairs of a query and a text of one kind: texts that a search must find, or must not. */
interface PairGroup {
  language: string;
  kind: string;
  found?: [query: string, text: string][];
  wrong?: [query: string, text: string][];
}

interface Pair {
  set: string;
  language: string;
  kind: string;
  query: string;
  segmentId: string;
  text: string;
  mustFind: boolean;
}

async function readPairs(): Promise<Pair[]> {
  const pairs: Omit<Pair, "segmentId">[] = [];
  for (const set of FILES) {
    const path = join(import.meta.dirname, "../word-pairs", `${set}.json`);
    const groups: PairGroup[] = JSON.parse(await readFile(path, "utf8"));
    for (const { language, kind, found = [], wrong = [] } of groups) {
      const about = { set, language, kind };
      for (const [query, text] of found) pairs.push({ ...about, query, text, mustFind: true });
      for (const [query, text] of wrong) pairs.push({ ...about, query, text, mustFind: false });
    }
  }
  return pairs.map((pair, at) => Object.assign(pair, { segmentId: syntheticId("seg", at) }));
}

/** Stores each text as what is said in a segment, and embeds it, as ingest does. */
async function load(service: Service, index: string, pairs: Pair[]): Promise<void> {
  await service.sightline.indices.create({ index_name: index });
  const segments = pairs.map(({ segmentId, text }, at) => ({
    segmentId,
    assetId: syntheticId("vid", at), // the language of a text is that of its asset
    position: 0,
    caption: "",
    transcript: text,
    onScreenText: "",
  }));
  const none = { textVectors: new Float32Array(), imageVectors: new Float32Array() };
  await loadBatch(service, index, { segments, ...none }, "yes");
}

type Outcome = "found" | "not_found" | "wrongly_found" | "not_wrongly_found";

async function judge({ sightline }: Service, pair: Pair) {
  const body = { query: pair.query, top_k: TOP_K, collapse: false };
  const { segments } = await sightline.index(pair.set).search(body);
  const first = segments[0];
  const own = segments.find(({ segment_id }) => segment_id === pair.segmentId);
  const score = round(own?.score ?? 0);
  const isFirst = first !== undefined && own !== undefined && first.score === own.score;
  const outcome: Outcome = pair.mustFind
    ? isFirst && score >= 0.5
      ? "found"
      : "not_found"
    : score >= 0.5
      ? "wrongly_found"
      : "not_wrongly_found";
  return { ...pair, outcome, score, first: first?.transcript ?? "" };
}

export const suite: Suite = {
  summary: "words as people type them: forms, spellings, numbers, scripts; and false finds",
  run: (options) =>
    withService(
      options,
      async (service) => {
        const pairs = await readPairs();
        for (const [set, some] of Map.groupBy(pairs, (pair) => pair.set)) {
          await load(service, set, some);
        }
        const judged: Awaited<ReturnType<typeof judge>>[] = [];
        for (const pair of pairs) judged.push(await judge(service, pair));
        const failures = judged.filter(
          ({ outcome }) => outcome === "not_found" || outcome === "wrongly_found",
        );
        for (const { outcome, query, text, score, first } of failures) {
          options.log(`${outcome}: ${query} | ${text} | ${score} | ${first}`);
        }
        const share = (some: typeof judged, outcome: Outcome) =>
          round(some.filter((one) => one.outcome === outcome).length / (some.length || 1), 3);
        const summarize = (some: typeof judged) => ({
          pairs: some.length,
          found: share(
            some.filter(({ mustFind }) => mustFind),
            "found",
          ),
          wrongly_found: share(
            some.filter(({ mustFind }) => !mustFind),
            "wrongly_found",
          ),
        });
        const kinds = Map.groupBy(judged, ({ language, kind }) => `${language}: ${kind}`);
        const sets = Map.groupBy(judged, ({ set }) => set);
        const table = [...sets, ...kinds, ["all", judged] as const].map(([name, some]) => {
          return Object.assign({ name }, summarize([...some]));
        });
        return { table, json: { ...summarize(judged), kinds: table, failures } };
      },
      { entry: LOADING_WORKER },
    ),
};
