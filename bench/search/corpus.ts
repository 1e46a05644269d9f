import type { CaptionedPhoto } from "../../scripts/picture-space/captions.ts";
import { createRandom } from "../../scripts/picture-space/random.ts";

/** So many segments of five seconds make a video. */
export const VIDEO_SEGMENTS = 20;
/** Of each photo's sentences, so many are the segment's words; the next is the query. */
const WORDS_OF = 4;

/** What one segment holds in words. */
export interface Passage {
  segmentId: string;
  assetId: string;
  /** In its video, from 0. */
  position: number;
  caption: string;
  transcript: string;
  onScreenText: string;
}

/** A segment of the corpus: its words, and where each of its four sentences comes from. */
export interface CorpusSegment extends Passage {
  /** Places in the list of all photos, and of the sentence among the photo's. */
  sources: { photo: number; sentence: number }[];
}

export interface CorpusQuery {
  text: string;
  /** The one right segment. */
  segmentId: string;
}

/** Photos with at least five sentences each: `known` are asked about, `others` never. */
export interface CorpusPhotos {
  known: readonly CaptionedPhoto[];
  others: readonly CaptionedPhoto[];
}

/**
 * The first `count` segments of one endless corpus, the same for the same photos: one a photo, first the
 * known ones, then the others; after these, pairs of other photos drawn at random, two sentences of each.
 * Two sentences are caption, one transcript, one on-screen text.
 */
export function makeSegments({ known, others }: CorpusPhotos, count: number): CorpusSegment[] {
  const photos = [...known, ...others];
  const random = createRandom(1);
  const draw = (below: number) => Math.floor(random() * below);
  return Array.from({ length: count }, (_, at) => {
    if (at < photos.length) return toSegment(photos, at, [0, 1, 2, 3], [at, at, at, at]);
    const first = known.length + draw(others.length);
    const step = 1 + draw(others.length - 1); // never the same photo twice
    const second = known.length + ((first - known.length + step) % others.length);
    const from = draw(WORDS_OF);
    return toSegment(photos, at, [from, from, from + 1, from + 1], [first, second, first, second]);
  });
}

/** The sentence that no segment holds, of each known photo that is among the first `count` segments. */
export function makeQueries({ known }: CorpusPhotos, count: number): CorpusQuery[] {
  return known.slice(0, count).map(({ captions }, at) => {
    return { text: captions[WORDS_OF] ?? "", segmentId: idOf("seg", at) };
  });
}

function toSegment(
  photos: readonly CaptionedPhoto[],
  at: number,
  sentences: [number, number, number, number],
  of: [number, number, number, number],
): CorpusSegment {
  const sources = of.map((photo, i) => ({ photo, sentence: (sentences[i] ?? 0) % WORDS_OF }));
  const [first = "", second = "", spoken = "", written = ""] = sources.map(
    ({ photo, sentence }) => photos[photo]?.captions[sentence] ?? "",
  );
  return {
    segmentId: idOf("seg", at),
    assetId: idOf("vid", Math.floor(at / VIDEO_SEGMENTS)),
    position: at % VIDEO_SEGMENTS,
    caption: `${first} ${second}`,
    transcript: spoken,
    onScreenText: written,
    sources,
  };
}

export function idOf(prefix: "seg" | "vid", at: number): string {
  return `${prefix}_${String(at).padStart(26, "0")}`;
}
