import { z } from "zod";
import { Leash } from "../../scripts/stack/child.ts";
import { listeningPorts, residentMemory } from "../processes.ts";
import type { Service } from "../service.ts";
import { round, type SuiteOptions } from "../suite.ts";
import { type Batch, encodeBatch } from "./batch.ts";
import { type Contestant, timeSearch } from "./contestants.ts";
import { type CorpusQuery, makeQueries, makeSegments } from "./corpus.ts";
import { loadMaterial, type Material, toBatch } from "./corpus-vectors.ts";
import { type Figures, meanNdcg, toParts, toSpread } from "./figures.ts";
import { installPeers, startPeer } from "./peer-process.ts";
import { countPerSecond, race } from "./race.ts";

export const OURS = "Sightline";
const INDEX = "corpus";
const TOP_K = 10;
const BATCH_SEGMENTS = 1000;
const QUERIES = 200;
const WARM_UP = 20;
const LOAD = { atOnce: 8, ms: 5000 };
/** From so many segments on, LanceDB is also asked by its index of the vectors. */
const APPROXIMATE_FROM = 50_000;
/** Of more segments, Orama would take longer than all others together. */
const ORAMA_UP_TO = 50_000;

/** Ours and the peers, on the same growing corpus, in one run. Sizes ascend. */
export async function contest(service: Service, options: SuiteOptions): Promise<Figures[]> {
  const material = await loadMaterial(options);
  const packages = await installPeers(options);
  const leash = new Leash();
  try {
    const settings = { packages, leash, topK: TOP_K };
    const lance = await startPeer("lancedb", service, settings);
    const orama = await startPeer("orama", service, settings);
    await service.api.post("/index", { index_name: INDEX });
    const mine = await ours(service);
    const figures: Figures[] = [];
    let before = 0;
    for (const [turn, size] of options.sizes.entries()) {
      const start = performance.now();
      const peers = size <= ORAMA_UP_TO ? [lance, orama] : [lance];
      for (const batch of batchesOf(material, before, size)) {
        options.signal.throwIfAborted();
        await addToOurs(service, batch);
        for (const peer of peers) await peer.add(batch);
      }
      await lance.prepare();
      options.log(`${size} segments are in after ${Math.round(performance.now() - start)} ms`);
      const contestants = [
        mine,
        lance.asContestant("LanceDB", false),
        ...(size < APPROXIMATE_FROM ? [] : [lance.asContestant("LanceDB, IVF-PQ", true)]),
        ...(peers.includes(orama) ? [orama.asContestant("Orama", false)] : []),
      ];
      const queries = drawQueries(material, size, turn);
      const measured = await measure(contestants, size, queries, options.signal);
      for (const { name, fresh, known, ndcg10 } of measured) {
        options.log(`${name}: new ${fresh.p50} ms, known ${known.p50} ms, nDCG@10 ${ndcg10}`);
      }
      figures.push(...measured);
      before = size;
    }
    return figures;
  } finally {
    await leash.end();
  }
}

function* batchesOf(material: Material, from: number, to: number): Generator<Batch> {
  const segments = makeSegments(material.photos, to);
  for (let at = from; at < to; at += BATCH_SEGMENTS) {
    yield toBatch(material, segments.slice(at, Math.min(to, at + BATCH_SEGMENTS)));
  }
}

interface Queries {
  warmUp: CorpusQuery[];
  asked: CorpusQuery[];
}

/** Others each round, so that each is new when it is first asked. */
function drawQueries({ photos }: Material, size: number, turn: number): Queries {
  const all = makeQueries(photos, size);
  const each = Math.min(QUERIES + WARM_UP, Math.floor(all.length / 3));
  const some = all.filter((_, at) => at % 3 === turn % 3).slice(0, each);
  return { warmUp: some.slice(0, WARM_UP), asked: some.slice(WARM_UP) };
}

async function measure(
  contestants: readonly Contestant[],
  segments: number,
  { warmUp, asked }: Queries,
  signal: AbortSignal,
): Promise<Figures[]> {
  const textsOf = (queries: CorpusQuery[]) => queries.map(({ text }) => text);
  const texts = textsOf(asked);
  await race(contestants, textsOf(warmUp), signal);
  const fresh = await race(contestants, texts, signal);
  const known = await race(contestants, texts, signal);
  const perSecond = new Map<string, number>();
  for (const contestant of contestants) {
    perSecond.set(contestant.name, await countPerSecond(contestant, texts, { ...LOAD, signal }));
  }
  return Promise.all(
    contestants.map(async ({ name, process }): Promise<Figures> => {
      const [first = [], again = []] = [fresh.get(name), known.get(name)];
      return {
        segments,
        name,
        fresh: toSpread(first),
        known: toSpread(again),
        perSecond: round(perSecond.get(name) ?? 0, 1),
        ndcg10: meanNdcg(first, asked),
        parts: toParts(again),
        freshParts: toParts(first),
        mib: Math.round(Math.max(0, ...(await residentMemory(process)).values())),
      };
    }),
  );
}

/** By texts and their vectors only, as the peers, which know no pictures. */
async function ours(service: Service): Promise<Contestant> {
  const url = await runtimeUrl(service);
  const { key } = service;
  return {
    name: OURS,
    process: "workerd",
    search: (query) =>
      timeSearch(
        `${url}/index/${INDEX}/search?pictures=no`,
        { "x-api-key": key },
        { query, top_k: TOP_K },
        readOurs,
      ),
  };
}

/** The runtime's own port: Wrangler's, before it, is a proxy for development. Linux only; else that. */
async function runtimeUrl({ url }: Service): Promise<string> {
  for (const port of await listeningPorts("workerd")) {
    const own = `http://127.0.0.1:${port}`;
    const health = await fetch(`${own}/health`, { signal: AbortSignal.timeout(5000) })
      .then((response) => response.json())
      .catch(() => null);
    const isOurs = z.object({ service: z.literal("sightline") }).safeParse(health).success;
    if (isOurs && own !== url) return own;
  }
  return url;
}

function readOurs(json: string): string[] {
  const { segments }: { segments: { segment_id: string }[] } = JSON.parse(json);
  return segments.map(({ segment_id }) => segment_id);
}

async function addToOurs({ url, account }: Service, batch: Batch): Promise<void> {
  const response = await fetch(`${url}/load?account=${account}&index=${INDEX}`, {
    method: "POST",
    body: encodeBatch(batch),
  });
  if (!response.ok) throw new Error(`/load: ${response.status} ${await response.text()}`);
}
