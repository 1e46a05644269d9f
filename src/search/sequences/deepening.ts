import { SEQUENCES } from "../../parameters.ts";

/** The best score of a step in each video that has a candidate for the step. */
export type BestScores = ReadonlyMap<string, number>;

/**
 * Selects the videos in which each step is searched once more: those that have a candidate for all
 * other steps, the likeliest first by the product of their best scores.
 */
export function selectVideosToDeepen(steps: readonly BestScores[]): string[][] {
  return steps.map((_, step) => {
    const others = steps.filter((_best, i) => i !== step);
    const [first, ...rest] = others.toSorted((a, b) => a.size - b.size);
    const likely = [...(first ?? [])].flatMap(([video, best]) => {
      const scores = rest.map((scoreByVideo) => scoreByVideo.get(video));
      if (scores.includes(undefined)) return [];
      return [{ video, score: scores.reduce<number>((product, score) => product * score!, best) }];
    });
    return likely
      .toSorted((a, b) => b.score - a.score || (a.video < b.video ? -1 : 1))
      .slice(0, SEQUENCES.deepenedVideos)
      .map(({ video }) => video);
  });
}
