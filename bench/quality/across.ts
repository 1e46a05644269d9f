import { join } from "node:path";
import { Sightline } from "sightline";
import { JOINT_SPACE_FILE } from "../../local/engine/joint-space/space.ts";
import type { Hit } from "../../src/search/hits.ts";
import { IndexGroup } from "../../src/search/index-group.ts";
import { loadPhotoVectors, type PhotoVectors } from "../../tools/calibration/photo-vectors.ts";
import {
  ARCHIVE_CONTENTS,
  type ArchiveContents,
  type ArchivePhotos,
  type ArchiveSegment,
  makeArchive,
  makeArchiveQueries,
} from "../../tools/calibration/sized-archive.ts";
import { ingestFiles } from "../../tools/ingest-files.ts";
import type { MediaFile } from "../../tools/media-files.ts";
import { prepareArchive } from "../../tools/memory-search/judge-archive.ts";
import type { QueryWithTruth } from "../../tools/memory-search/judge-queries.ts";
import { type KnownVectors, MemoryIndex } from "../../tools/memory-search/memory-index.ts";
import { ndcg } from "../../tools/ndcg.ts";
import { createRandom } from "../../tools/random-numbers.ts";
import { withService } from "../../tools/service.ts";
import { createKey } from "../../tools/stack/api-key.ts";
import { round, type Suite, type SuiteOptions } from "../../tools/suite.ts";
import { readCaptionedPhotos } from "../../tools/training/captions.ts";
import { shuffle } from "../../tools/training/random.ts";

/** Ends of the parts of a split archive: its indices differ in size. */
const PART_ENDS = [0.5, 0.75, 0.9, 1];
const QUERIES = 200;
/** Photos that are asked for without being in an archive. */
const ABSENT = 200;
const TOP_K = 10;
/** Greatest difference of nDCG@10 between one index and several. */
const MAX_DIFFERENCE = 0.01;
/** Queries of an archive of which an index is down, and the time that it gets. */
const DOWN = { queries: 40, timeoutMs: 300 };
/** Photos of an index, and queries of each account. */
const ISOLATION = { photos: 8, searches: 40, answers: 8 };

const mean = (values: number[]) => values.reduce((sum, one) => sum + one, 0) / values.length;
const idsOf = (hits: readonly Hit[]) => hits.map(({ segment }) => segment.segmentId);

/** Splits an archive between two videos. */
function split(segments: readonly ArchiveSegment[]): ArchiveSegment[][] {
  const assets = [...new Set(segments.map(({ assetId }) => assetId))];
  const partOf = new Map(
    assets.map((id, at) => [id, PART_ENDS.findIndex((end) => (at + 0.5) / assets.length < end)]),
  );
  return PART_ENDS.map((_, part) => segments.filter(({ assetId }) => partOf.get(assetId) === part));
}

/** Mean nDCG@10 of the queries that have something relevant. */
async function measureGain(
  queries: readonly QueryWithTruth[],
  search: (query: string) => Promise<readonly Hit[]>,
  signal: AbortSignal,
): Promise<number> {
  const gains: number[] = [];
  for (const { text, relevantIds } of queries) {
    signal.throwIfAborted();
    if (relevantIds.size === 0) continue;
    const found = idsOf(await search(text)).map((id) => relevantIds.has(id));
    gains.push(ndcg(found, relevantIds.size, TOP_K));
  }
  return mean(gains);
}

interface PreparedArchive {
  name: string;
  segments: readonly ArchiveSegment[];
  vectors: KnownVectors;
  queries: readonly QueryWithTruth[];
}

/**
 * Compares the search of an archive in one index with that of the same archive in four: searched
 * together, and each by itself with the hits merged by score.
 */
async function measureParity(archive: PreparedArchive, contents: string, signal: AbortSignal) {
  const { name, segments, vectors, queries } = archive;
  const whole = await MemoryIndex.open(name, segments, vectors);
  const several = await MemoryIndex.openSplit(name, split(segments), vectors);
  const merge = async (query: string) => {
    const found = await Promise.all(
      several.indices.map((index) => several.searchIn(index, { query, topK: TOP_K })),
    );
    return found.flatMap(({ hits }) => hits).toSorted((a, b) => b.score - a.score);
  };
  let equal = 0;
  const one = await measureGain(queries, (query) => whole.search({ query, topK: TOP_K }), signal);
  const together = await measureGain(
    queries,
    async (query) => {
      const hits = await several.search({ query, topK: TOP_K });
      const expected = await whole.search({ query, topK: TOP_K });
      equal += Number(idsOf(hits).join() === idsOf(expected).join());
      return hits;
    },
    signal,
  );
  const apart = await measureGain(queries, merge, signal);
  const asked = queries.filter(({ relevantIds }) => relevantIds.size > 0).length;
  return {
    contents,
    segments: segments.length,
    queries: asked,
    one: round(one, 4),
    several: round(together, 4),
    difference: round(together - one, 4),
    same_first_ten: round(equal / asked, 3),
    merged_by_score: round(apart, 4),
  };
}

/** Searches an archive of which an index never answers. */
async function measureDown(archive: PreparedArchive) {
  const { name, segments, vectors, queries } = archive;
  const down = await MemoryIndex.openSplit(name, split(segments), vectors, [1]);
  const others = down.indices.filter((_, at) => at !== 1);
  const counts = { queries: 0, named: 0, hits_of_it: 0, as_without_it: 0 };
  for (const { text: query } of queries.slice(0, DOWN.queries)) {
    const group = new IndexGroup(down.indices, DOWN.timeoutMs);
    const { hits } = await down.searchIn(group, { query, topK: TOP_K });
    const healthy = new IndexGroup(others, 60_000);
    const expected = await down.searchIn(healthy, { query, topK: TOP_K });
    counts.queries++;
    counts.named += Number(group.partial.map((one) => one.name).join() === down.indices[1]!.name);
    counts.hits_of_it += hits.filter(
      ({ asset }) => asset.indexName === group.indices[1]!.name,
    ).length;
    counts.as_without_it += Number(idsOf(hits).join() === idsOf(expected.hits).join());
  }
  return counts;
}

/** Searches all indices of two accounts that have the same photos under the same names. */
async function measureIsolation({ dataDir, log, signal }: SuiteOptions) {
  const photos = await readCaptionedPhotos(join(dataDir, "photos"));
  const lists = ["first", "second"].map((_, at) =>
    photos.slice(at * ISOLATION.photos, (at + 1) * ISOLATION.photos),
  );
  const captions = lists.flat().map((photo) => photo.captions);
  return withService({ log, signal }, async ({ url, keySecrets, folder }) => {
    const accounts = [];
    for (const account of ["one", "other"]) {
      const apiKey = await createKey(keySecrets, { account, scopes: ["read", "write"] });
      const sightline = new Sightline({ url, apiKey, signal, timeoutMs: 600_000 });
      const assetIds = new Set<string>();
      for (const [at, list] of lists.entries()) {
        const indexName = `photos-${at}`;
        await sightline.indices.create({ index_name: indexName });
        const files = list.map(({ path }): MediaFile => ({ path, kind: "image" }));
        const options = { sightline, indexName, serviceUrl: url, stateFolder: folder };
        await ingestFiles(files, { ...options, output: process.stderr });
        for await (const asset of sightline.index(indexName).assets()) assetIds.add(asset.asset_id);
      }
      accounts.push({ sightline, assetIds });
    }
    const counts = { assets: 0, searches: 0, answers: 0, hits: 0, citations: 0, foreign: 0 };
    for (const { sightline, assetIds } of accounts) {
      counts.assets += assetIds.size;
      const isForeign = ({ asset_id }: { asset_id: string }) => !assetIds.has(asset_id);
      for (let at = 0; at < ISOLATION.searches; at++) {
        const query = captions[at % captions.length]![at % 5]!;
        const { segments } = await sightline.search({ index_names: ["*"], query, top_k: 50 });
        counts.searches++;
        counts.hits += segments.length;
        counts.foreign += segments.filter(isForeign).length;
        if (at >= ISOLATION.answers) continue;
        const question = { index_names: ["*"], query };
        const { citations, related } = await sightline.answer(question);
        counts.answers++;
        counts.citations += citations.length + related.length;
        counts.foreign += [...citations, ...related].filter(isForeign).length;
      }
    }
    return counts;
  });
}

async function prepare(
  photos: ArchivePhotos,
  photoVectors: PhotoVectors,
  { contents, size }: { contents: ArchiveContents; size: number },
  signal: AbortSignal,
): Promise<PreparedArchive> {
  const random = createRandom(1);
  const segments = makeArchive(photos, size, contents, random);
  const asked = makeArchiveQueries(photos, segments, { count: QUERIES }, random);
  const archive = { captions: photos.captions, segments, queries: asked };
  const { vectors, queries } = await prepareArchive(archive, photoVectors, signal);
  return { name: `across ${contents}`, segments, vectors, queries };
}

export const suite: Suite = {
  summary: "several indices as one: nDCG@10 (the first of --sizes), two accounts, an index down",
  async run(options) {
    const { dataDir, sizes, log, signal } = options;
    const folders = ["photos", "photos-train"].map((name) => join(dataDir, name));
    const photoVectors = await loadPhotoVectors(folders, JOINT_SPACE_FILE, log);
    const captions = photoVectors.photos.map((photo) => photo.captions);
    const known = shuffle(photoVectors.starts[1]!, createRandom(1));
    const photos = {
      captions,
      targets: known.slice(ABSENT),
      absent: known.slice(0, ABSENT),
      others: [...captions.keys()].slice(photoVectors.starts[1]),
    };
    const parity = [];
    let down = { queries: 0, named: 0, hits_of_it: 0, as_without_it: 0 };
    for (const contents of ARCHIVE_CONTENTS) {
      const about = { contents, size: sizes[0]! };
      const archive = await prepare(photos, photoVectors, about, signal);
      const row = await measureParity(archive, contents, signal);
      log(JSON.stringify(row));
      parity.push(row);
      if (contents === "mixed") down = await measureDown(archive);
    }
    log(JSON.stringify(down));
    const isolation = await measureIsolation(options);
    log(JSON.stringify(isolation));
    const problems = [
      ...parity.map(({ difference }) => Math.abs(difference) > MAX_DIFFERENCE),
      isolation.foreign > 0,
      down.named < down.queries,
      down.as_without_it < down.queries,
    ];
    return {
      table: parity,
      json: { parity, down, isolation },
      problems: problems.filter(Boolean).length,
    };
  },
};
