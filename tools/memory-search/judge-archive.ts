import type { JudgedQuery } from "../calibration/judgments.ts";
import type { PhotoVectors } from "../calibration/photo-vectors.ts";
import {
  type ArchiveContents,
  type ArchivePhotos,
  type ArchiveQuery,
  type ArchiveSegment,
  createArchiveJudge,
  makeArchive,
  makeArchiveQueries,
} from "../calibration/sized-archive.ts";
import { createRandom } from "../training/random.ts";
import { judgeQueries } from "./judge-queries.ts";
import { MemoryIndex } from "./memory-index.ts";

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
  vectors: PhotoVectors,
  { contents, size }: { contents: ArchiveContents; size: number },
  {
    signal,
    listOthers = () => [],
  }: { signal: AbortSignal; listOthers?: (segments: readonly ArchiveSegment[]) => string[] },
): Promise<ArchiveResults> {
  const results: ArchiveResults = { contents, segments: size, queries: [], aboutNothing: [] };
  const { archives, queries: count } = ARCHIVES.find(({ upTo }) => size <= upTo)!;
  for (let seed = 1; seed <= archives; seed++) {
    const random = createRandom(seed);
    const segments = makeArchive(photos, size, contents, random);
    const queries = makeArchiveQueries(photos, segments, count, random);
    const others = listOthers(segments).map((text) => ({ text, photo: null }));
    const archive = { captions: photos.captions, segments, queries: [...queries, ...others] };
    const judged = await judgeArchive(`photos ${contents}`, archive, vectors, signal);
    results.queries.push(...judged.slice(0, queries.length));
    results.aboutNothing.push(...judged.slice(queries.length));
  }
  return results;
}

/** An archive of photos, and queries about it. */
interface JudgedArchive {
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
  vectors: PhotoVectors,
  signal: AbortSignal,
): Promise<JudgedQuery[]> {
  const index = await openArchive(name, archive, vectors, signal);
  const judge = createArchiveJudge(archive.captions, archive.segments);
  const withTruth = archive.queries.map((query) => {
    return { text: query.text, relevantIds: judge(query) };
  });
  return judgeQueries(index, withTruth, signal);
}

/** Opens an archive in memory, with the vectors of the queries about it. */
export async function openArchive(
  name: string,
  { captions, segments, queries }: JudgedArchive,
  vectors: PhotoVectors,
  signal: AbortSignal,
): Promise<MemoryIndex> {
  const known = await vectors.embedTexts(
    queries.map(({ text }) => text),
    signal,
  );
  const texts = new Map(known.texts);
  const bySegment = new Map<string, Float32Array>();
  for (const { segmentId, image, photos, caption, transcript, onScreenText } of segments) {
    for (const photo of photos) {
      for (const [at, sentence] of captions[photo]!.entries()) {
        if ([caption, transcript, onScreenText].includes(sentence)) {
          texts.set(sentence, vectors.sentenceVector(photo, at));
        }
      }
    }
    if (image !== null) bySegment.set(segmentId, vectors.imageVector(image));
  }
  const images = bySegment.size > 0 ? { bySegment, byQuery: known.images } : null;
  return MemoryIndex.open(name, segments, { texts, images });
}
