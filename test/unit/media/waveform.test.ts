import { describe, expect, it } from "vitest";
import { cellRange, cellsOf, findPauses, toWaveform } from "../../../src/media/waveform.ts";

describe("The cells of a waveform", () => {
  it.each([
    ["of 1 s last a millisecond", 1000, { count: 1000, cellMs: 1 }],
    ["of 100 s last 100 ms", 100_000, { count: 1000, cellMs: 100 }],
    ["of 150 s are two for each peak", 150_000, { count: 2000, cellMs: 75 }],
    ["of 12 hours last 100 ms", 43_200_000, { count: 432_000, cellMs: 100 }],
  ])("%s", (_, durationMs, cells) => {
    expect(cellsOf(durationMs)).toEqual(cells);
  });

  it("are distributed over parts without a gap", () => {
    const ranges = [0, 1, 2].map((part) => cellRange(1000, part, 3));
    expect(ranges).toEqual([
      { from: 0, to: 333 },
      { from: 333, to: 666 },
      { from: 666, to: 1000 },
    ]);
  });
});

describe("A waveform", () => {
  it("has the largest amplitude of each peak's cells, with two decimals", () => {
    const cells = new Uint8Array(2000);
    cells.set([10, 255, 0, 128]);
    const waveform = toWaveform(cells);
    expect(waveform).toHaveLength(1000);
    expect(waveform.slice(0, 3)).toEqual([1, 0.5, 0]);
  });
});

describe("The pauses of sound", () => {
  const cells = (...runs: [length: number, amplitude: number][]) =>
    Uint8Array.from(runs.flatMap(([length, amplitude]) => Array<number>(length).fill(amplitude)));

  it.each([
    [
      "are runs that are quiet beside the loud ones",
      cells([10, 200], [5, 15], [10, 180]),
      [[1000, 1500]],
    ],
    ["shorter than 250 ms don't count", cells([10, 200], [2, 0], [10, 200]), []],
    [
      "may be at both ends",
      cells([3, 0], [10, 90], [4, 9]),
      [
        [0, 300],
        [1300, 1700],
      ],
    ],
    ["aren't known in digital silence", cells([30, 0]), []],
    ["are relative to how loud it is", cells([10, 20], [5, 2], [10, 20]), [[1000, 1500]]],
  ])("%s", (_, amplitudes, expected) => {
    const pauses = findPauses(amplitudes, amplitudes.length * 100);
    expect(pauses.map(({ startMs, endMs }) => [startMs, endMs])).toEqual(expected);
  });
});
