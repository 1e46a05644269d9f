/** Percent of queries whose right item is first, among the first five, and among the first ten. */
type Recall = {
  r1: number;
  r5: number;
  r10: number;
  /** Median rank of the right item, from 1. */
  median_rank: number;
};

export interface Retrieval {
  text_to_image: Recall;
  image_to_text: Recall;
  images: number;
  captions: number;
}

/**
 * Ranks all images for every caption, and all captions for every image, where the best of the
 * image's own captions counts. `photoOf` is the image index of each caption. Vectors have length 1.
 */
export function measureRetrieval(
  images: readonly ArrayLike<number>[],
  captions: readonly ArrayLike<number>[],
  photoOf: readonly number[],
): Retrieval {
  const bestOwnScores = images.map(() => -Infinity);
  const scores = captions.map((caption, at) => {
    const row = Float32Array.from(images, (image) => dot(caption, image));
    const photo = photoOf[at] ?? 0;
    bestOwnScores[photo] = Math.max(bestOwnScores[photo] ?? 0, row[photo] ?? 0);
    return row;
  });
  const captionRanks = scores.map((row, at) => 1 + countAbove(row, row[photoOf[at] ?? 0] ?? 0));
  const imageRanks = images.map(
    (_, photo) =>
      1 + scores.filter((row) => (row[photo] ?? 0) > (bestOwnScores[photo] ?? 0)).length,
  );
  return {
    text_to_image: toRecall(captionRanks),
    image_to_text: toRecall(imageRanks),
    images: images.length,
    captions: captions.length,
  };
}

function toRecall(ranks: readonly number[]): Recall {
  const within = (k: number) =>
    Math.round((1000 * ranks.filter((rank) => rank <= k).length) / ranks.length) / 10;
  const median = ranks.toSorted((a, b) => a - b)[Math.floor((ranks.length - 1) / 2)];
  return { r1: within(1), r5: within(5), r10: within(10), median_rank: median ?? Number.NaN };
}

function countAbove(row: Float32Array, limit: number): number {
  let count = 0;
  for (const value of row) if (value > limit) count++;
  return count;
}

/** Returns the dot product: of unit vectors, their cosine. */
export function dot(a: ArrayLike<number>, b: ArrayLike<number>): number {
  let sum = 0;
  for (let at = 0; at < a.length; at++) sum += (a[at] ?? 0) * (b[at] ?? 0);
  return sum;
}
