import { describe, expect, it } from "vitest";
import { SHOTS } from "../../src/config.ts";
import type { Cut } from "../../src/ingest/cut.ts";
import { silencesOf, splitAtPauses } from "../../src/ingest/pauses.ts";
import type { SmallStill } from "../../src/types.ts";

const SHOT: Cut = { startMs: 100_000, endMs: 130_000 };
const PIECES = 3;

/** Two stills a second of the shot, each of one grey level, a function of the seconds into it. */
function seen(level: (seconds: number) => number): SmallStill[] {
  return Array.from({ length: 60 }, (_, i): SmallStill => {
    const thumbnail = btoa(String.fromCharCode(Math.round(level(i / 2))));
    return { seconds: 100 + i / 2, sharpness: 1, thumbnail };
  });
}

/** Seconds into the shot at which it is split. */
function borders(stills: SmallStill[], silences: [from: number, to: number][] = []) {
  const quiet = silences.map(([from, to]): Cut => {
    return { startMs: SHOT.startMs + from * 1000, endMs: SHOT.startMs + to * 1000 };
  });
  const pieces = splitAtPauses(SHOT, PIECES, stills, quiet);
  expect(pieces).toHaveLength(PIECES);
  expect(pieces[0]!.startMs).toBe(SHOT.startMs);
  expect(pieces.at(-1)!.endMs).toBe(SHOT.endMs);
  return pieces.slice(1).map(({ startMs }, i) => {
    expect(startMs).toBe(pieces[i]!.endMs);
    return (startMs - SHOT.startMs) / 1000;
  });
}

const calm = seen(() => 80);
const moving = seen((seconds) => (seconds % 1 === 0 ? 60 : 100));
/** Moves all the time but in these seconds. */
const resting = (from: number, to: number) =>
  seen((seconds) => (seconds >= from && seconds <= to ? 77 : (seconds % 1) * 20 + 60));
const changing = (at: number) => seen((seconds) => (seconds < at ? 60 : 90));

describe("a shot that is too long is split", () => {
  it.each<[where: string, borders: number[], stills: SmallStill[], silences?: [number, number][]]>([
    ["evenly where nothing moves", [10, 20], calm],
    ["evenly where all moves", [10, 20], moving],
    ["evenly where nothing was seen", [10, 20], []],
    ["where nothing moves", [8.5, 20], resting(8, 9)],
    ["where the picture changes", [12, 20], changing(12)],
    ["not where it changes far off", [10, 20], changing(14)],
    ["where nobody speaks", [11.5, 20], calm, [[11.3, 11.7]]],
    ["in the middle of a short silence", [11.3, 20], calm, [[11.2, 11.4]]],
    [
      "in the longer of two silences",
      [8.5, 20],
      calm,
      [
        [8, 8.8],
        [11, 11.5],
      ],
    ],
    [
      "in the nearer of two silences",
      [9, 20],
      calm,
      [
        [9, 9],
        [12, 12],
      ],
    ],
    ["between two sentences without a silence", [9.123, 20], calm, [[9.123, 9.123]]],
    ["where it is still while nobody speaks", [8.5, 20], resting(8, 9), [[0, 30]]],
    ["where the picture changes, though someone speaks", [12, 20], changing(12), [[8, 9]]],
    [
      "not in a silence far off",
      [10, 20],
      calm,
      [
        [0, 7],
        [13, 17],
        [23, 30],
      ],
    ],
  ])("%s", (_, expected, stills, silences) => {
    expect(borders(stills, silences)).toEqual(expected);
  });

  it("into pieces of much the same length", () => {
    const slack = SHOTS.slack * SHOTS.pieceSeconds;
    for (const at of [7.6, 8, 9, 11, 12, 12.4]) {
      const [first, second] = borders(changing(Math.round(at * 2) / 2), [
        [at, at],
        [at + 10, at + 10],
      ]);
      expect(Math.abs(first! - 10)).toBeLessThanOrEqual(slack);
      expect(Math.abs(second! - 20)).toBeLessThanOrEqual(slack);
    }
  });

  it("not at all into one piece", () => {
    expect(splitAtPauses(SHOT, 1, calm, [])).toEqual([SHOT]);
  });
});

describe("nobody speaks", () => {
  it.each<[cues: [start: number, end: number][], silences: [number, number][]]>([
    [[], []],
    [
      [[2, 4]],
      [
        [0, 2],
        [4, 10],
      ],
    ],
    [
      [
        [0, 4],
        [4, 10],
      ],
      [
        [0, 0],
        [4, 4],
      ],
    ],
    [
      [
        [1, 6],
        [2, 3],
        [7, 8],
      ],
      [
        [0, 1],
        [6, 7],
        [8, 10],
      ],
    ],
    [
      [
        [7, 8],
        [1, 2],
      ],
      [
        [0, 1],
        [2, 7],
        [8, 10],
      ],
    ],
    [[[9, 12]], [[0, 9]]],
    [[[11, 12]], [[0, 10]]],
  ])("beside %j of 10 seconds: %j", (cues, silences) => {
    const spoken = cues.map(([start, end]) => ({ start, end, text: "word" }));
    const seconds = silencesOf(spoken, 10_000).map(({ startMs, endMs }) => [
      startMs / 1000,
      endMs / 1000,
    ]);
    expect(seconds).toEqual(silences);
  });
});
