import { describe, expect, it } from "vitest";
import { segmentAudio } from "../../../../src/ingest/segmentation.ts";

type Seconds = [start: number, end: number];

const toMs = (pauses: Seconds[]) =>
  pauses.map(([start, end]) => ({ startMs: start * 1000, endMs: end * 1000 }));

/** Returns the seconds at which segments end. */
function endsOf(seconds: number, ...lists: Seconds[][]): number[] {
  return segmentAudio(seconds * 1000, lists.map(toMs)).map(({ endMs }) => endMs / 1000);
}

describe("Sound without pictures", () => {
  it.each<[title: string, seconds: number, lists: Seconds[][], ends: number[]]>([
    ["of 30 s is one segment, whatever its pauses", 30, [[[14, 16]]], [30]],
    ["of 1 s is one segment", 1, [], [1]],
    ["without pauses is split evenly", 90, [], [30, 60, 90]],
    ["of 31 s without pauses has two equal segments", 31, [[]], [15.5, 31]],
    [
      "is split in the middle of its longest pause",
      40,
      [
        [
          [10, 10.4],
          [20, 21],
        ],
      ],
      [20.5, 40],
    ],
    ["is split at the end of a cue that touches the next one", 40, [[[18, 18]]], [18, 40]],
    [
      "is split at the pause nearest to the middle of equal ones",
      50,
      [
        [
          [8, 9],
          [24, 25],
        ],
      ],
      [24.5, 50],
    ],
    [
      "isn't split within 5 s of an end",
      40,
      [
        [
          [1, 4],
          [37, 39],
        ],
      ],
      [20, 40],
    ],
    [
      "counts a pause only where it may be split",
      34,
      [
        [
          [0, 6],
          [15, 15.5],
        ],
      ],
      [5.5, 34],
    ],
    [
      "is split again while a part is too long",
      70,
      [
        [
          [20, 20.5],
          [45, 46],
        ],
      ],
      [20.25, 45.5, 70],
    ],
    ["prefers the first list of pauses", 40, [[[12, 12]], [[20, 25]]], [12, 40]],
    [
      "uses the next list where the first has no pause",
      70,
      [[[35, 35]], [[10, 11]]],
      [10.5, 35, 52.5, 70],
    ],
  ])("%s", (_, seconds, lists, ends) => {
    expect(endsOf(seconds, ...lists)).toEqual(ends);
  });

  it("of 12 hours with a pause each second has segments of 5 to 30 s without gaps", () => {
    const pauses = Array.from({ length: 43_199 }, (_, i): Seconds => {
      return [i + 1, i + 1 + ((i * 7919) % 100) / 200];
    });
    const segments = segmentAudio(43_200_000, [toMs(pauses)]);
    expect(segments.at(-1)!.endMs).toBe(43_200_000);
    for (const [i, { startMs, endMs }] of segments.entries()) {
      expect(startMs).toBe(segments[i - 1]?.endMs ?? 0);
      expect(endMs - startMs).toBeGreaterThanOrEqual(5000);
      expect(endMs - startMs).toBeLessThanOrEqual(30_000);
    }
    expect(segmentAudio(43_200_000, [toMs(pauses)])).toEqual(segments);
  });
});
