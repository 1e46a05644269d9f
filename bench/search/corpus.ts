import { createRandom } from "../../tools/random-numbers.ts";
import { syntheticId, type SegmentFields, VIDEO_SEGMENTS } from "../../tools/segment-batch.ts";
import type { CaptionedPhoto } from "../../tools/training/captions.ts";

/** Captions of each photo that become text of its segment; the next caption is the query. */
const TEXT_CAPTIONS = 4;

/** A segment of the corpus, and the source of each of its four captions. */
export interface CorpusSegment extends SegmentFields {
  /** Index in the list of all photos, and of the caption among the photo's. */
  sources: { photo: number; sentence: number }[];
}

/** A query with one relevant segment. */
export interface CorpusQuery {
  text: string;
  /** The only relevant segment. */
  segmentId: string;
}

/** Photos with at least five captions each. Queries are about `known` photos only. */
export interface CorpusPhotos {
  known: readonly CaptionedPhoto[];
  others: readonly CaptionedPhoto[];
}

/**
 * Returns the first `count` segments of an endless corpus, the same for the same photos. First one
 * segment for each photo, known ones before others; then random pairs of other photos, two captions
 * of each. Two captions make the segment's caption, one its transcript, one its on-screen text.
 */
export function makeSegments({ known, others }: CorpusPhotos, count: number): CorpusSegment[] {
  const photos = [...known, ...others];
  const random = createRandom(1);
  const drawInteger = (below: number) => Math.floor(random() * below);
  return Array.from({ length: count }, (_, at) => {
    if (at < photos.length) return toSegment(photos, at, [0, 1, 2, 3], [at, at, at, at]);
    const first = known.length + drawInteger(others.length);
    const step = 1 + drawInteger(others.length - 1); // two different photos
    const second = known.length + ((first - known.length + step) % others.length);
    const from = drawInteger(TEXT_CAPTIONS);
    return toSegment(photos, at, [from, from, from + 1, from + 1], [first, second, first, second]);
  });
}

/**
 * Returns a query for each known photo among the first `count` segments: the caption that no
 * segment contains.
 */
export function makeQueries({ known }: CorpusPhotos, count: number): CorpusQuery[] {
  return known.slice(0, count).map(({ captions }, at) => {
    return { text: captions[TEXT_CAPTIONS] ?? "", segmentId: syntheticId("seg", at) };
  });
}

function toSegment(
  photos: readonly CaptionedPhoto[],
  at: number,
  sentences: [number, number, number, number],
  of: [number, number, number, number],
): CorpusSegment {
  const sources = of.map((photo, i) => ({ photo, sentence: (sentences[i] ?? 0) % TEXT_CAPTIONS }));
  const [first = "", second = "", spoken = "", onScreenText = ""] = sources.map(
    ({ photo, sentence }) => photos[photo]?.captions[sentence] ?? "",
  );
  return {
    segmentId: syntheticId("seg", at),
    assetId: syntheticId("vid", Math.floor(at / VIDEO_SEGMENTS)),
    position: at % VIDEO_SEGMENTS,
    caption: `${first} ${second}`,
    transcript: spoken,
    onScreenText,
    sources,
  };
}
