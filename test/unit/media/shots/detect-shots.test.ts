import { describe, expect, it } from "vitest";
import { selectKeyframe } from "../../../../src/ingest/segmentation.ts";
import { measureSharpness } from "../../../../src/media/pixels/luma.ts";
import { selectRefinementFrames } from "../../../../src/media/shots/detect-shots.ts";
import {
  type FrameDescriptor,
  toFrameDescriptor,
  findTransitions,
} from "../../../../src/media/shots/transitions.ts";
import type { TimeRangeMs } from "../../../../src/time-range.ts";
import type { FrameSummary, Transition } from "../../../../src/types.ts";

const RATE = 25;
const SIDE = 96;
/** Luma (0–255) at a position, both ways from 0 to 1. */
type Scene = (x: number, y: number) => number;

/** Soft waves that the seed chooses: scenes of two seeds aren't similar. */
function createScene(seed: number): Scene {
  const waves = Array.from({ length: 6 }, (_, i) => {
    const angle = seed * 2.4 + i * 1.1;
    const pace = 9 + ((seed * 11 + i * 7) % 23);
    return { x: pace * Math.cos(angle), y: pace * Math.sin(angle), phase: seed * 3 + i };
  });
  return (x, y) =>
    128 + 30 * waves.reduce((sum, wave) => sum + Math.sin(x * wave.x + y * wave.y + wave.phase), 0);
}

const [lake, town, hill] = [createScene(1), createScene(2), createScene(3)];
const black: Scene = () => 2;

function repeat(scene: Scene, count: number): Scene[] {
  return Array.from({ length: count }, () => scene);
}

function dissolve(a: Scene, b: Scene, count: number): Scene[] {
  return Array.from({ length: count }, (_, i): Scene => {
    const share = (i + 1) / (count + 1);
    return (x, y) => a(x, y) * (1 - share) + b(x, y) * share;
  });
}

/** Pans by a share of the frame's width, or zooms in by a factor. */
function moveCamera(scene: Scene, panShare: number, zoomFactor: number, count: number): Scene[] {
  return Array.from({ length: count }, (_, i): Scene => {
    const share = i / count;
    const scale = zoomFactor ** -share;
    return (x, y) => scene((x - 0.5) * scale + 0.5 + panShare * share, (y - 0.5) * scale + 0.5);
  });
}

const brighten =
  (scene: Scene, levels: number): Scene =>
  (x, y) =>
    scene(x, y) * 0.4 + levels;

/** Describes a video that shows one scene a frame. */
function describeFrames(scenes: Scene[]): FrameDescriptor[] {
  const rendered = new Map<Scene, Uint8Array>();
  return scenes.map((scene, frame) => {
    const luma =
      rendered.get(scene) ??
      Uint8Array.from({ length: SIDE ** 2 }, (_, i) => {
        return Math.min(255, Math.max(0, scene((i % SIDE) / SIDE, Math.floor(i / SIDE) / SIDE)));
      });
    rendered.set(scene, luma);
    return toFrameDescriptor({ seconds: frame / RATE, luma });
  });
}

/** `c` for a cut or `g` for a gradual transition, the last frame before and the first one after. */
function formatTransitions(transitions: Transition[]): string[] {
  return transitions.map(({ kind, from, to }) => {
    return `${kind[0]} ${Math.round(from * RATE)}-${Math.round(to * RATE)}`;
  });
}

describe("the transitions of", () => {
  it.each<[title: string, scenes: Scene[], expected: string[]]>([
    ["a video without frames: none", [], []],
    ["a single frame: none", [lake], []],
    ["a static shot: none", repeat(lake, 50), []],
    ["two shots: a cut", [...repeat(lake, 20), ...repeat(town, 20)], ["c 19-20"]],
    [
      "three shots: two cuts",
      [...repeat(lake, 20), ...repeat(town, 9), ...repeat(hill, 9)],
      ["c 19-20", "c 28-29"],
    ],
    [
      "two shots of moving cameras: a cut",
      [...moveCamera(lake, 0.2, 1, 25), ...moveCamera(town, -0.2, 1, 25)],
      ["c 24-25"],
    ],
    [
      "a dissolve: a gradual transition",
      [...repeat(lake, 20), ...dissolve(lake, town, 11), ...repeat(town, 20)],
      ["g 19-31"],
    ],
    [
      "a dissolve of 1.6 s: a gradual transition",
      [...repeat(lake, 20), ...dissolve(lake, town, 40), ...repeat(town, 20)],
      ["g 19-60"],
    ],
    [
      "a dissolve and a cut: both",
      [...repeat(lake, 20), ...dissolve(lake, town, 11), ...repeat(town, 10), ...repeat(hill, 10)],
      ["g 19-31", "c 40-41"],
    ],
    [
      "a fade through black: a gradual transition",
      [
        ...repeat(lake, 20),
        ...dissolve(lake, black, 8),
        black,
        ...dissolve(black, town, 8),
        ...repeat(town, 20),
      ],
      ["g 19-37"],
    ],
    [
      "a cut to black and a fade from it: a gradual transition",
      [...repeat(lake, 20), ...repeat(black, 4), ...dissolve(black, town, 10), ...repeat(town, 20)],
      ["g 19-34"],
    ],
    [
      "a fade to black at the end: none",
      [...repeat(lake, 20), ...dissolve(lake, black, 12), ...repeat(black, 9)],
      [],
    ],
    [
      "a fade from black at the start: none",
      [...repeat(black, 9), ...dissolve(black, lake, 12), ...repeat(lake, 20)],
      [],
    ],
    [
      "a flash: none",
      [...repeat(lake, 20), brighten(lake, 160), brighten(lake, 130), ...repeat(lake, 20)],
      [],
    ],
    [
      "a white flash: none",
      [...repeat(lake, 20), ...repeat(() => 255, 2), ...repeat(lake, 20)],
      [],
    ],
    ["a fast pan: none", moveCamera(lake, 2, 1, 25), []],
    ["a slow pan: none", moveCamera(lake, 0.6, 1, 75), []],
    ["a zoom: none", moveCamera(lake, 0, 2.5, 50), []],
    ["a shot that gets brighter: none", dissolve(lake, brighten(lake, 120), 20), []],
  ])("%s", (_, scenes, expected) => {
    expect(formatTransitions(findTransitions(describeFrames(scenes)))).toEqual(expected);
  });
});

describe("frame refinement", () => {
  const scenes = [...repeat(lake, 30), ...repeat(town, 45)];
  const descriptors = describeFrames(scenes).filter((_, frame) => frame % 12 === 0);
  const entries = scenes.map((_, frame) => ({ seconds: frame / RATE, isKey: frame % 60 === 0 }));
  const NO_LIMIT = { limit: 96, rounds: 1 };
  const toFrames = (times: number[]) => times.map((seconds) => Math.round(seconds * RATE));

  it("selects the frames between two that differ, and some on either side", () => {
    const between = [25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35];
    const times = selectRefinementFrames(descriptors, entries, NO_LIMIT);
    expect(toFrames(times)).toEqual([21, 22, 23, ...between, 37, 38, 39]);
  });

  it("subsamples frames beyond the limit and selects the rest in the next round", () => {
    const first = selectRefinementFrames(descriptors, entries, { limit: 10, rounds: 1 });
    expect(toFrames(first)).toEqual([26, 31, 37]);
    const refined = describeFrames(scenes).filter(({ seconds }, frame) => {
      return frame % 12 === 0 || first.includes(seconds);
    });
    expect(toFrames(selectRefinementFrames(refined, entries, NO_LIMIT))).toEqual([
      25, 27, 28, 29, 30, 32, 33, 34,
    ]);
  });

  it("selects the frames around a key packet", () => {
    const withKey = entries.map(({ seconds }, frame) => ({ seconds, isKey: frame === 30 }));
    const times = selectRefinementFrames(descriptors, withKey, NO_LIMIT);
    expect(toFrames(times)).toEqual([28, 29, 30, 31]);
  });

  it("selects nothing beyond the limit, and no frame that is decoded", () => {
    expect(selectRefinementFrames(descriptors, entries, { limit: 2, rounds: 1 })).toEqual([]);
    expect(selectRefinementFrames(describeFrames(scenes), entries, NO_LIMIT)).toEqual([]);
  });

  it("selects at most 30 frames a second", () => {
    const [before, after] = [describeFrames(scenes)[28]!, describeFrames(scenes)[31]!];
    const dense = Array.from({ length: 360 }, (_, i) => ({ seconds: i / 120, isKey: false }));
    expect(selectRefinementFrames([before, after], dense, NO_LIMIT)).toHaveLength(4);
  });
});

describe("the keyframe of a segment from 0 to 4 s", () => {
  const segment: TimeRangeMs = { startMs: 0, endMs: 4000 };
  const frame = (seconds: number, sharpness: number, luma: number): FrameSummary => {
    return { seconds, sharpness, lumaThumbnail: btoa(String.fromCharCode(luma, luma)) };
  };
  const transition: Transition = { kind: "gradual", from: 1.4, to: 2.6 };

  it.each<[title: string, frames: FrameSummary[], transitions: Transition[], ms: number]>([
    ["is in the middle without sampled frames", [], [], 2000],
    ["is the sharpest frame", [frame(0, 10, 9), frame(1, 30, 9), frame(2, 20, 9)], [], 1000],
    ["is nearest to the middle among sharp frames", [frame(1, 30, 9), frame(2, 28, 9)], [], 2000],
    ["is a typical frame", [frame(0, 5, 9), frame(1, 5, 9), frame(3, 90, 200)], [], 1000],
    ["isn't a frame of the next segment", [frame(3.9, 5, 9), frame(4, 90, 9)], [], 3900],
    ["isn't within a transition", [frame(1, 5, 9), frame(2, 90, 9)], [transition], 1000],
    ["is within a transition if there are no other frames", [frame(2, 90, 9)], [transition], 2000],
    ["has the first millisecond of its frame", [frame(1.0010416, 5, 9)], [], 1002],
  ])("%s", (_, frames, transitions, ms) => {
    expect(selectKeyframe(segment, frames, transitions)).toBe(ms);
  });
});

const stripes = (lumaAt: (x: number) => number) =>
  Uint8Array.from({ length: 96 ** 2 }, (_, i) => lumaAt(i % 96));
const sharpStripes = stripes((x) => (x % 8 < 4 ? 200 : 40));

it("a blurred frame is less sharp than a sharp one, and a flat frame has a sharpness of 0", () => {
  const blurred = stripes((x) => 120 + 80 * Math.sin((x * Math.PI) / 4));
  expect(measureSharpness(sharpStripes)).toBeGreaterThan(1.5 * measureSharpness(blurred));
  expect(measureSharpness(stripes(() => 77))).toBe(0);
});

it("a frame descriptor has the mean luma of each cell", () => {
  const { cells } = toFrameDescriptor({ seconds: 1, luma: sharpStripes });
  expect(cells.every((cell) => cell === 200 || cell === 40)).toBe(true);
});
