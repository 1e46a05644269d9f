import { describe, expect, it } from "vitest";
import { SEQUENCES } from "../../../src/parameters.ts";
import { type ChainCandidate, findChains } from "../../../src/search/search-sequence.ts";

interface Named extends ChainCandidate {
  name: string;
}

/** Reads `b3 4-5 .8`: name, seconds from and to, score. */
function toCandidate(text: string): Named {
  const [name, range, score] = text.split(" ");
  const [start, end] = range!.split("-").map(Number);
  const segment = { startMs: start! * 1000, endMs: end! * 1000 };
  return { name: name!, segment, score: Number(score) };
}

/** Finds chains and names their segments: `boat light`. */
function chainsOf(steps: string[][], withinSeconds = 60): [names: string, score: number][] {
  const candidates = steps.map((step) => step.map(toCandidate));
  return findChains(candidates, withinSeconds * 1000).map(({ steps: found, score }) => [
    found.map(({ name }) => name).join(" "),
    Math.round(score * 1e6) / 1e6,
  ]);
}

describe("chains of segments", () => {
  it.each<[string, string[][], number, [string, number][]]>([
    ["in order are found", [["a 0-5 .8"], ["b 5-9 .5"]], 60, [["a b", 0.4]]],
    ["in reversed order are none", [["a 5-9 .8"], ["b 0-5 .5"]], 60, []],
    ["with a gap at the limit are found", [["a 0-5 1"], ["b 15-20 1"]], 10, [["a b", 1]]],
    ["with a gap above the limit are none", [["a 0-5 1"], ["b 15.001-20 1"]], 10, []],
    ["with an overlap are none", [["a 0-5 1"], ["b 4.999-9 1"]], 10, []],
    ["with equal times are none", [["a 0-5 1"], ["b 0-5 1"]], 10, []],
    ["of the same segment twice are none", [["a 0-5 1"], ["a 0-5 1"]], 10, []],
    ["of the same segment of no length are none", [["a 3-3 1"], ["a 3-3 1"]], 10, []],
    ["without a candidate for a step are none", [["a 0-5 1"], [], ["c 9-12 1"]], 60, []],
    ["without any candidate are none", [[], []], 60, []],
    [
      "limit each gap, not the whole length",
      [["a 0-5 1"], ["b 10-15 .5"], ["c 20-25 1"]],
      5,
      [["a b c", 0.5]],
    ],
    ["end with a step that no candidate fits", [["a 0-5 1"], ["b 10-15 1"], ["c 12-13 1"]], 60, []],
    [
      "of five steps have the product of five scores",
      [["a 0-1 .9"], ["b 1-2 .9"], ["c 2-3 .9"], ["d 3-4 .9"], ["e 4-5 .9"]],
      1,
      [["a b c d e", 0.59049]],
    ],
    [
      "take the better of two beginnings",
      [["a1 0-5 .9", "a2 6-8 .5"], ["b 10-12 1"]],
      60,
      [["a1 b", 0.9]],
    ],
    [
      "take the nearest of two equal beginnings",
      [["a1 0-5 .9", "a2 6-8 .9"], ["b 10-12 1"]],
      60,
      [["a2 b", 0.9]],
    ],
    [
      "leave a better beginning that is too far away",
      [["a1 0-5 .9", "a2 6-8 .5"], ["b 10-12 1"]],
      4,
      [["a2 b", 0.5]],
    ],
    [
      "take the better path, not the better last pair",
      [["a1 0-1 .9", "a2 10-11 .1"], ["b1 2-3 .5", "b2 12-13 .9"], ["c 14-15 1"]],
      60,
      [["a1 b2 c", 0.81]],
    ],
  ])("%s", (_, steps, within, expected) => {
    expect(chainsOf(steps, within)).toEqual(expected);
  });

  it.each<[string, string[][], [string, number][]]>([
    [
      "that differ in the last step are one",
      [["a 0-5 1"], ["b1 6-8 .9", "b2 9-12 .8"]],
      [["a b1", 0.9]],
    ],
    [
      "that differ in the first step are one",
      [["a1 0-5 .8", "a2 6-8 .9"], ["b 9-12 1"]],
      [["a2 b", 0.9]],
    ],
    [
      "beside each other are two, the second with its own beginning",
      [
        ["a1 0-5 1", "a2 12-14 .5"],
        ["b1 6-8 .9", "b2 20-22 .9"],
      ],
      [
        ["a1 b1", 0.9],
        ["a2 b2", 0.45],
      ],
    ],
    [
      "before a better one are found, too",
      [
        ["a1 0-1 .2", "a2 10-11 .9"],
        ["b1 2-3 .5", "b2 12-13 .9"],
      ],
      [
        ["a2 b2", 0.81],
        ["a1 b1", 0.1],
      ],
    ],
    [
      "around a better one are left out",
      [
        ["a1 0-1 .2", "a2 10-11 .9"],
        ["b1 12-13 .9", "b2 20-21 .5"],
      ],
      [["a2 b1", 0.81]],
    ],
  ])("%s", (_, steps, expected) => {
    expect(chainsOf(steps)).toEqual(expected);
  });

  it("agree with all combinations of random candidates", () => {
    let seed = 7;
    const random = () => (seed = (seed * 48_271) % 2_147_483_647) / 2_147_483_647;
    for (let round = 0; round < 200; round++) {
      const steps = Array.from({ length: 3 }, () =>
        Array.from({ length: 6 }, () => {
          const startMs = Math.floor(random() * 60) * 1000;
          const endMs = startMs + Math.floor(1 + random() * 4) * 1000;
          return { segment: { startMs, endMs }, score: random() };
        }),
      );
      const [best] = findChains(steps, 10_000);
      expect(best?.score ?? 0).toBeCloseTo(bestOfAll(steps, 10_000), 12);
    }
  });

  it("of thousands of candidates are found with a few comparisons for each", () => {
    const reads = [4000, 8000].map((count) => {
      let read = 0;
      const toCounted = (offset: number) =>
        Array.from({ length: count }, (_, i): ChainCandidate => {
          const startMs = (2 * i + offset) * 1000;
          const score = 1 / (i + 2); // the best chain is always the first one that is left
          const segment = {
            get startMs() {
              read += 1;
              return startMs;
            },
            endMs: startMs + 1000,
          };
          return { segment, score };
        });
      const chains = findChains([toCounted(0), toCounted(1)], 3_600_000);
      expect(chains).toHaveLength(SEQUENCES.chainsPerVideo);
      return read;
    });
    expect(reads[1]! / reads[0]!).toBeLessThan(2.5);
  });
});

/** Returns the score of the best chain among all combinations. */
function bestOfAll(steps: ChainCandidate[][], withinMs: number): number {
  const [first, ...rest] = steps;
  let chains = first!.map((last) => ({ last, score: last.score }));
  for (const step of rest) {
    chains = chains.flatMap(({ last, score }) =>
      step
        .filter(({ segment: { startMs } }) => {
          const { endMs } = last.segment;
          return startMs >= endMs && startMs - endMs <= withinMs;
        })
        .map((next) => ({ last: next, score: score * next.score })),
    );
  }
  return Math.max(0, ...chains.map(({ score }) => score));
}
