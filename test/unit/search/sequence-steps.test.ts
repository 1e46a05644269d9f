import { describe, expect, it } from "vitest";
import { SEQUENCES } from "../../../src/parameters.ts";
import { selectVideosToDeepen } from "../../../src/search/search-sequence.ts";

type Scores = Record<string, number>;
const select = (steps: Scores[]) =>
  selectVideosToDeepen(steps.map((step) => new Map(Object.entries(step))));

describe("the videos in which a step is searched once more", () => {
  it.each<[string, Scores[], string[][]]>([
    ["are those with the other of two steps", [{ a: 0.9 }, { b: 0.8 }], [["b"], ["a"]]],
    [
      "are those with all others of three steps",
      [{ a: 0.9, b: 0.5 }, { a: 0.9 }, { b: 0.5, c: 0.5 }],
      [[], ["b"], ["a"]],
    ],
    ["are the likeliest first", [{}, { a: 0.1, b: 0.8, c: 0.3 }], [["b", "c", "a"], []]],
    ["are in the order of their ids if equally likely", [{}, { b: 1, a: 1 }], [["a", "b"], []]],
    ["are none if no step has candidates", [{}, {}, {}], [[], [], []]],
  ])("%s", (_, steps, expected) => {
    expect(select(steps)).toEqual(expected);
  });

  it("are at most as many as two filters of vectors name", () => {
    const many = Object.fromEntries(
      Array.from({ length: 500 }, (_, i) => [`vid_${i}`, 1 / (i + 1)]),
    );
    const [first, second] = select([{}, many]);
    expect(first).toHaveLength(SEQUENCES.deepenedVideos);
    expect(first![0]).toBe("vid_0");
    expect(second).toEqual([]);
  });
});
