/** How often the right one is found first, among the first five, ten; percent. */
type Recall = {
  r1: number;
  r5: number;
  r10: number;
  /** Of the right one; 1 is the first. */
  median_rank: number;
};

export interface Retrieval {
  text_to_picture: Recall;
  picture_to_text: Recall;
  pictures: number;
  captions: number;
}

/**
 * Every caption against all pictures, and every picture against all captions, where the best of its
 * own counts. `photoOf` tells the picture of each caption. Vectors have length 1.
 */
export function measureRetrieval(
  pictures: readonly ArrayLike<number>[],
  captions: readonly ArrayLike<number>[],
  photoOf: readonly number[],
): Retrieval {
  const best = pictures.map(() => -Infinity);
  const scores = captions.map((caption, at) => {
    const row = Float32Array.from(pictures, (picture) => dot(caption, picture));
    const photo = photoOf[at] ?? 0;
    best[photo] = Math.max(best[photo] ?? 0, row[photo] ?? 0);
    return row;
  });
  const captionRanks = scores.map((row, at) => 1 + countAbove(row, row[photoOf[at] ?? 0] ?? 0));
  const pictureRanks = pictures.map(
    (_, photo) => 1 + scores.filter((row) => (row[photo] ?? 0) > (best[photo] ?? 0)).length,
  );
  return {
    text_to_picture: toRecall(captionRanks),
    picture_to_text: toRecall(pictureRanks),
    pictures: pictures.length,
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

function dot(a: ArrayLike<number>, b: ArrayLike<number>): number {
  let sum = 0;
  for (let at = 0; at < a.length; at++) sum += (a[at] ?? 0) * (b[at] ?? 0);
  return sum;
}
