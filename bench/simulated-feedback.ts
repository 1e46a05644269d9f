import { parseQuery } from "../src/search/query.ts";
import type { PhotoVectors } from "../tools/calibration/photo-vectors.ts";
import { MemoryIndex } from "../tools/memory-search/memory-index.ts";
import type { CaptionedPhoto } from "../tools/training/captions.ts";

/** Unit vectors of photos, and of their captions in the text space and in the joint space. */
export interface EmbeddedPhotos {
  images: readonly ArrayLike<number>[];
  /** Keys are captions, without the marks that a search would take for syntax. */
  texts: ReadonlyMap<string, ArrayLike<number>>;
  queries: ReadonlyMap<string, ArrayLike<number>>;
}

/** Embeds the first photos of a folder and their captions. */
export async function embedPhotos(
  vectors: PhotoVectors,
  photos: readonly CaptionedPhoto[],
  signal: AbortSignal,
): Promise<EmbeddedPhotos> {
  const captions = photos.flatMap((photo) => photo.captions.map(toPlainText));
  const { texts, images: queries } = await vectors.embedTexts(captions, signal);
  return { images: photos.map((_, i) => vectors.imageVector(i)), texts, queries };
}

function toPlainText(caption: string): string {
  return parseQuery(caption).plainText;
}

/** Ranks of the targets that a user looks for, results that the user reads, judgments. */
const RANKS = { min: 10, max: 50 };
const [READ, JUDGMENTS, WANTED] = [10, 3, 5];
/** Results of a search. */
const DEPTH = 100;
/** Lowest similarity to the target of a result that the user wants more of. */
const MIN_SIMILARITY = 0.5;

/** An archive of photos, and the searches whose targets are at ranks 10 to 50. */
interface PhotoArchive {
  index: MemoryIndex;
  searches: { query: string; target: number; ranking: number[] }[];
}

/** Opens an archive of photos, each described by its first caption or by none, and searches it. */
export async function openPhotoArchive(
  photos: readonly CaptionedPhoto[],
  { images, texts, queries }: EmbeddedPhotos,
  isDescribed: boolean,
): Promise<PhotoArchive> {
  const segments = photos.map(({ captions }, i) => ({
    segmentId: toSegmentId(i),
    assetId: `vid_${i}`,
    position: 0,
    caption: isDescribed ? toPlainText(captions[0]!) : "",
    transcript: "",
    onScreenText: "",
  }));
  const bySegment = new Map(images.map((vector, i) => [toSegmentId(i), vector]));
  const known = { texts, images: { bySegment, byQuery: queries } };
  const index = await MemoryIndex.open(`refined ${isDescribed}`, segments, known);
  const searches: PhotoArchive["searches"] = [];
  for (const [target, { captions }] of photos.entries()) {
    for (const caption of captions.slice(isDescribed ? 1 : 0)) {
      const query = toPlainText(caption);
      const ranking = await rankPhotos(index, { query });
      const rank = ranking.indexOf(target) + 1;
      if (rank >= RANKS.min && rank <= RANKS.max) searches.push({ query, target, ranking });
    }
  }
  return { index, searches };
}

const toSegmentId = (photo: number) => `seg_${String(photo).padStart(26, "0")}`;

async function rankPhotos(
  index: MemoryIndex,
  request: Omit<Parameters<MemoryIndex["search"]>[0], "topK">,
): Promise<number[]> {
  const hits = await index.search({ ...request, topK: DEPTH });
  return hits.map(({ segment }) => Number(segment.segmentId.slice("seg_".length)));
}

/** What a user does: how results are judged, and whether those that were read come again. */
export interface SimulatedUser {
  /** How similar two photos are to the user; null if nothing is judged. */
  similarity: ((one: number, other: number) => number) | null;
  skipsRead: boolean;
}

/**
 * Returns the share of targets at ranks 10 to 50 that come among the first five results after three
 * judgments. The user searches with one caption of a photo. Of the ten results that are read, the
 * most similar one to the target is right, or the first is wrong if none is similar enough. Judged
 * results don't count, and those that were read don't come again if the user skips them.
 */
export async function shareFound({ index, searches }: PhotoArchive, user: SimulatedUser) {
  let found = 0;
  for (const search of searches) {
    const last = await refine(index, search, user);
    const at = last.indexOf(search.target);
    if (at >= 0 && at < WANTED) found++;
  }
  return { targets: searches.length, found, share: found / searches.length };
}

/** Returns the ranking after the judgments of a user, or as soon as the target is found. */
async function refine(
  index: MemoryIndex,
  { query, target, ranking: first }: PhotoArchive["searches"][number],
  { similarity, skipsRead }: SimulatedUser,
): Promise<number[]> {
  const [more, less, skipped] = [new Set<number>(), new Set<number>(), new Set<number>()];
  let ranking = first;
  for (let i = 0; i < JUDGMENTS; i++) {
    const at = ranking.indexOf(target);
    if (at >= 0 && at < WANTED) break;
    const read = ranking.filter((photo) => photo !== target).slice(0, READ);
    if (read.length === 0) break;
    if (similarity) {
      const similarityOf = (photo: number) => similarity(target, photo);
      const best = read.toSorted((a, b) => similarityOf(b) - similarityOf(a))[0]!;
      if (similarityOf(best) >= MIN_SIMILARITY) more.add(best);
      else less.add(read[0]!);
    }
    for (const photo of skipsRead ? read : []) skipped.add(photo);
    const toIds = (photos: ReadonlySet<number>) => [...photos].map(toSegmentId);
    const all = await rankPhotos(index, {
      query,
      moreLike: toIds(more),
      lessLike: toIds(less),
      skipped: toIds(skipped),
    });
    ranking = all.filter((photo) => !more.has(photo));
  }
  return ranking;
}
