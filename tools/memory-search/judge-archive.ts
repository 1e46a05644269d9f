import type { JudgedQuery } from "../calibration/judgments.ts";
import type { PhotoTexts } from "../calibration/photo-vectors.ts";
import {
  type ArchiveContents,
  type ArchivePhotos,
  type ArchiveQuery,
  type ArchiveSegment,
  createArchiveJudge,
  makeArchive,
  makeArchiveQueries,
  type QueryWords,
} from "../calibration/sized-archive.ts";
import { createRandom } from "../random-numbers.ts";
import { judgeQueries, type QueryWithTruth } from "./judge-queries.ts";
import { type KnownVectors, MemoryIndex } from "./memory-index.ts";

/** Archives of a size, and queries of each: small archives differ most. */
const ARCHIVES = [
  { upTo: 300, archives: 8, queries: 100 },
  { upTo: 3_000, archives: 2, queries: 300 },
  { upTo: Infinity, archives: 1, queries: 400 },
];

/** The results of queries over archives of one size. */
export interface ArchiveResults {
  contents: ArchiveContents;
  segments: number;
  /** Results of queries about photos. */
  queries: JudgedQuery[];
  /** Results of queries about nothing in the archive. */
  aboutNothing: JudgedQuery[];
}

/** Runs queries about photos, and those that `listOthers` returns for an archive. */
export async function judgeArchives(
  photos: ArchivePhotos,
  vectors: PhotoTexts,
  { contents, size }: { contents: ArchiveContents; size: number },
  {
    signal,
    words,
    listOthers = () => [],
  }: {
    signal: AbortSignal;
    words?: QueryWords | undefined;
    listOthers?: (segments: readonly ArchiveSegment[]) => string[];
  },
): Promise<ArchiveResults> {
  const results: ArchiveResults = { contents, segments: size, queries: [], aboutNothing: [] };
  const { archives, queries: count } = ARCHIVES.find(({ upTo }) => size <= upTo)!;
  for (let seed = 1; seed <= archives; seed++) {
    const random = createRandom(seed);
    const segments = makeArchive(photos, size, contents, random);
    const queries = makeArchiveQueries(photos, segments, { count, words }, random);
    const others = listOthers(segments).map((text) => ({ text, photo: null }));
    const archive = { captions: photos.captions, segments, queries: [...queries, ...others] };
    const judged = await judgeArchive(`photos ${contents}`, archive, vectors, signal);
    results.queries.push(...judged.slice(0, queries.length));
    results.aboutNothing.push(...judged.slice(queries.length));
  }
  return results;
}

/** Runs queries about photos over archives of several sizes. */
export async function judgeSizes(
  photos: ArchivePhotos,
  vectors: PhotoTexts,
  contents: ArchiveContents,
  options: {
    sizes: readonly number[];
    words?: QueryWords | undefined;
    log: (line: string) => void;
    signal: AbortSignal;
  },
): Promise<JudgedQuery[]> {
  const { sizes, words, log, signal } = options;
  const queries: JudgedQuery[] = [];
  for (const size of sizes) {
    log(`Searching ${size} segments: ${contents} …`);
    const about = { contents, size };
    queries.push(...(await judgeArchives(photos, vectors, about, { signal, words })).queries);
  }
  return queries;
}

/** An archive of photos, and queries about it. */
export interface JudgedArchive {
  captions: ArchivePhotos["captions"];
  segments: readonly ArchiveSegment[];
  queries: readonly ArchiveQuery[];
}

/**
 * Runs the queries by the service's own search, over the archive in memory. `name` names the
 * vectors: those of queries are cached by it. Returns a result for each query, in their order.
 */
async function judgeArchive(
  name: string,
  archive: JudgedArchive,
  photos: PhotoTexts,
  signal: AbortSignal,
): Promise<JudgedQuery[]> {
  const { vectors, queries } = await prepareArchive(archive, photos, signal);
  const index = await MemoryIndex.open(name, archive.segments, vectors);
  return judgeQueries(index, queries, signal);
}

/** Returns the vectors of an archive and its queries, and what is relevant to each query. */
export async function prepareArchive(
  { captions, segments, queries }: JudgedArchive,
  photoVectors: PhotoTexts,
  signal: AbortSignal,
): Promise<{ vectors: KnownVectors; queries: QueryWithTruth[] }> {
  const labelled = segments.filter(({ labels }) => labels && labels.length > 0);
  const asked = queries.map(({ text }) => text);
  const listed = labelled.map(({ caption }) => caption);
  const known = await photoVectors.embedTexts([...asked, ...listed], signal);
  const texts = new Map(known.texts);
  const bySegment = new Map<string, Float32Array>();
  for (const { segmentId, image, photos, caption, transcript, onScreenText } of segments) {
    for (const photo of photos) {
      for (const [at, sentence] of captions[photo]!.entries()) {
        if ([caption, transcript, onScreenText].includes(sentence)) {
          texts.set(sentence, photoVectors.sentenceVector(photo, at));
        }
      }
    }
    const vector = image === null ? undefined : photoVectors.imageVector?.(image);
    if (vector) bySegment.set(segmentId, vector);
  }
  const hasImages = segments.some(({ image }) => image !== null);
  const images = hasImages ? { bySegment, byQuery: known.images } : null;
  const judge = createArchiveJudge(captions, segments);
  return {
    vectors: { texts, images },
    queries: queries.map((query) => ({ text: query.text, ...judge(query) })),
  };
}
