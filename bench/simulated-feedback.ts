import { refineVector, toUnit } from "../src/search/refine-vector.ts";
import type { CaptionedPhoto } from "../tools/training/captions.ts";
import type { RequestEngine } from "./engine.ts";

const TEXTS_PER_REQUEST = 64;
const IMAGES_PER_REQUEST = 8;

/** Unit vectors of photos, and of each photo's captions. */
export interface EmbeddedPhotos {
  images: number[][];
  captions: number[][][];
}

/** Embeds photos and their captions in the engine's joint space. */
export async function embedPhotos(
  request: RequestEngine,
  photos: readonly CaptionedPhoto[],
  readImage: (path: string) => Promise<string>,
): Promise<EmbeddedPhotos> {
  const embed = async (input: object[]) => {
    const { data } = await request<{ data: { embedding: number[] }[] }>("/v1/embeddings", {
      input,
    });
    return data.map(({ embedding }) => toUnit(embedding));
  };
  const images: number[][] = [];
  for (let at = 0; at < photos.length; at += IMAGES_PER_REQUEST) {
    const batch = photos.slice(at, at + IMAGES_PER_REQUEST);
    const input = await Promise.all(
      batch.map(async ({ path }) => ({ image: await readImage(path) })),
    );
    images.push(...(await embed(input)));
  }
  const texts = photos.flatMap(({ captions }) => captions.map((text) => ({ text })));
  const vectors: number[][] = [];
  for (let at = 0; at < texts.length; at += TEXTS_PER_REQUEST) {
    vectors.push(...(await embed(texts.slice(at, at + TEXTS_PER_REQUEST))));
  }
  const captions = photos.map(({ captions: { length } }) => vectors.splice(0, length));
  return { images, captions };
}

/** Ranks of the targets that a user looks for, results that the user reads, judgments. */
const RANKS = { min: 10, max: 50 };
const [READ, JUDGMENTS, WANTED] = [10, 3, 5];
/** Lowest similarity to the target of a result that the user wants more of. */
const MIN_SIMILARITY = 0.5;

/**
 * Returns the share of targets at ranks 10 to 50 that come among the first five results after three
 * judgments. The user searches with one caption of a photo, and knows the other captions: of ten
 * results that aren't judged yet, the one whose captions are most like those is right, or the first
 * is wrong if none is like them. Judged results don't count.
 */
export function shareFound(
  photos: readonly CaptionedPhoto[],
  { images, captions }: EmbeddedPhotos,
) {
  const similarity = captionSimilarity(photos);
  let [targets, found] = [0, 0];
  for (const [target, queries] of captions.entries()) {
    for (const query of queries) {
      const first = rankImages(images, query, new Set());
      const rank = first.indexOf(target) + 1;
      if (rank < RANKS.min || rank > RANKS.max) continue;
      targets++;
      const last = refine(images, query, first, target, (other) => similarity(target, other));
      if (last.indexOf(target) < WANTED) found++;
    }
  }
  return { targets, found, share: found / targets };
}

/** Returns the ranking after the judgments of a user, or as soon as the target is found. */
function refine(
  images: number[][],
  query: number[],
  first: number[],
  target: number,
  similarityOf: (image: number) => number,
): number[] {
  const [more, less]: [number[], number[]] = [[], []];
  let ranking = first;
  for (let i = 0; i < JUDGMENTS && ranking.indexOf(target) >= WANTED; i++) {
    const read = ranking.filter((image) => image !== target).slice(0, READ);
    const best = read.toSorted((a, b) => similarityOf(b) - similarityOf(a))[0]!;
    if (similarityOf(best) >= MIN_SIMILARITY) more.push(best);
    else less.push(read[0]!);
    const directionOf = (judged: number[]) =>
      judged.length > 0 ? meanOf(judged.map((image) => images[image]!)) : null;
    const vector = refineVector(query, {
      relevant: directionOf(more),
      irrelevant: directionOf(less),
    });
    ranking = rankImages(images, vector, new Set([...more, ...less]));
  }
  return ranking;
}

function rankImages(images: number[][], query: number[], judged: ReadonlySet<number>): number[] {
  const scored = images.map((image, at) => ({ at, score: dot(image, query) }));
  return scored
    .filter(({ at }) => !judged.has(at))
    .toSorted((a, b) => b.score - a.score)
    .map(({ at }) => at);
}

/** Returns the cosine of two photos by the words of their captions, weighted by rarity (tf-idf). */
function captionSimilarity(photos: readonly CaptionedPhoto[]) {
  const counts = photos.map(({ captions }) => {
    const count = new Map<string, number>();
    for (const word of captions
      .join(" ")
      .toLowerCase()
      .match(/[a-z]{3,}/g) ?? []) {
      count.set(word, (count.get(word) ?? 0) + 1);
    }
    return count;
  });
  const frequencies = new Map<string, number>();
  for (const word of counts.flatMap((count) => [...count.keys()])) {
    frequencies.set(word, (frequencies.get(word) ?? 0) + 1);
  }
  const weights = counts.map((count) => {
    const all = [...count].map(([word, times]) => {
      return [word, times * Math.log(photos.length / frequencies.get(word)!)] as const;
    });
    const length = Math.hypot(...all.map(([, weight]) => weight));
    return new Map(all.map(([word, weight]) => [word, weight / length]));
  });
  return (one: number, other: number) => {
    let sum = 0;
    for (const [word, weight] of weights[one]!) sum += weight * (weights[other]!.get(word) ?? 0);
    return sum;
  };
}

function dot(a: readonly number[], b: readonly number[]): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i]! * b[i]!;
  return sum;
}

/** Returns the direction of the mean of unit vectors. */
function meanOf([first = [], ...rest]: readonly number[][]): number[] {
  return toUnit(first.map((value, i) => rest.reduce((sum, vector) => sum + vector[i]!, value)));
}
