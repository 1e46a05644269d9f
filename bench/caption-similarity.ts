import type { CaptionedPhoto } from "../tools/training/captions.ts";

/** Returns the cosine of two photos by the words of their captions, weighted by rarity (tf-idf). */
export function captionSimilarity(photos: readonly CaptionedPhoto[]) {
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
