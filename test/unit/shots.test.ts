import { describe, expect, it } from "vitest";
import type { Cut } from "../../src/ingest/cut.ts";
import { keyframeOf } from "../../src/ingest/keyframes.ts";
import { doubtfulPictures } from "../../src/media/doubts.ts";
import { type Look, lookOf } from "../../src/media/looks.ts";
import { sharpnessOf } from "../../src/media/sharpness.ts";
import { findTransitions } from "../../src/media/transitions.ts";
import type { SmallStill, Transition } from "../../src/types.ts";

const RATE = 25;
const SIDE = 96;
/** Level at a place, both from 0 to 1. */
type Scene = (x: number, y: number) => number;

/** A scene without edges that looks like no other. */
function scene(seed: number): Scene {
  const waves = Array.from({ length: 6 }, (_, i) => {
    const angle = seed * 2.4 + i * 1.1;
    const pace = 9 + ((seed * 11 + i * 7) % 23);
    return { x: pace * Math.cos(angle), y: pace * Math.sin(angle), phase: seed * 3 + i };
  });
  return (x, y) =>
    128 + 30 * waves.reduce((sum, wave) => sum + Math.sin(x * wave.x + y * wave.y + wave.phase), 0);
}

const [lake, town, hill] = [scene(1), scene(2), scene(3)];
const black: Scene = () => 2;

function hold(one: Scene, count: number): Scene[] {
  return Array.from({ length: count }, () => one);
}

function mix(a: Scene, b: Scene, count: number): Scene[] {
  return Array.from({ length: count }, (_, i): Scene => {
    const share = (i + 1) / (count + 1);
    return (x, y) => a(x, y) * (1 - share) + b(x, y) * share;
  });
}

/** The camera moves by this share of the picture's width, or comes so many times nearer. */
function move(one: Scene, by: number, nearer: number, count: number): Scene[] {
  return Array.from({ length: count }, (_, i): Scene => {
    const share = i / count;
    const zoom = nearer ** -share;
    return (x, y) => one((x - 0.5) * zoom + 0.5 + by * share, (y - 0.5) * zoom + 0.5);
  });
}

const bright =
  (one: Scene, by: number): Scene =>
  (x, y) =>
    one(x, y) * 0.4 + by;

function looksOf(scenes: Scene[]): Look[] {
  const known = new Map<Scene, Uint8Array>();
  return scenes.map((level, frame) => {
    const grey =
      known.get(level) ??
      Uint8Array.from({ length: SIDE ** 2 }, (_, i) => {
        return Math.min(255, Math.max(0, level((i % SIDE) / SIDE, Math.floor(i / SIDE) / SIDE)));
      });
    known.set(level, grey);
    return lookOf({ seconds: frame / RATE, grey });
  });
}

/** `c` for a cut, `g` for a gradual transition, with its last frame before and first one after. */
function show(transitions: Transition[]): string[] {
  return transitions.map(({ kind, from, to }) => {
    return `${kind[0]} ${Math.round(from * RATE)}-${Math.round(to * RATE)}`;
  });
}

describe("transitions", () => {
  it.each<[name: string, scenes: Scene[], found: string[]]>([
    ["nothing", [], []],
    ["one picture", [lake], []],
    ["nothing moves", hold(lake, 50), []],
    ["a cut", [...hold(lake, 20), ...hold(town, 20)], ["c 19-20"]],
    ["two cuts", [...hold(lake, 20), ...hold(town, 9), ...hold(hill, 9)], ["c 19-20", "c 28-29"]],
    [
      "a cut between moving cameras",
      [...move(lake, 0.2, 1, 25), ...move(town, -0.2, 1, 25)],
      ["c 24-25"],
    ],
    ["a dissolve", [...hold(lake, 20), ...mix(lake, town, 11), ...hold(town, 20)], ["g 19-31"]],
    ["a long one", [...hold(lake, 20), ...mix(lake, town, 40), ...hold(town, 20)], ["g 19-60"]],
    [
      "a dissolve and a cut",
      [...hold(lake, 20), ...mix(lake, town, 11), ...hold(town, 10), ...hold(hill, 10)],
      ["g 19-31", "c 40-41"],
    ],
    [
      "a fade through black",
      [...hold(lake, 20), ...mix(lake, black, 8), black, ...mix(black, town, 8), ...hold(town, 20)],
      ["g 19-37"],
    ],
    [
      "a fall into black and a fade from it",
      [...hold(lake, 20), ...hold(black, 4), ...mix(black, town, 10), ...hold(town, 20)],
      ["g 19-34"],
    ],
    ["a fade at the end", [...hold(lake, 20), ...mix(lake, black, 12), ...hold(black, 9)], []],
    ["a fade at the start", [...hold(black, 9), ...mix(black, lake, 12), ...hold(lake, 20)], []],
    ["a flash", [...hold(lake, 20), bright(lake, 160), bright(lake, 130), ...hold(lake, 20)], []],
    ["a white flash", [...hold(lake, 20), ...hold(() => 255, 2), ...hold(lake, 20)], []],
    ["a fast pan", move(lake, 2, 1, 25), []],
    ["a slow pan", move(lake, 0.6, 1, 75), []],
    ["a zoom", move(lake, 0, 2.5, 50), []],
    ["the light goes up", mix(lake, bright(lake, 120), 20), []],
  ])("%s", (_, scenes, found) => {
    expect(show(findTransitions(looksOf(scenes)))).toEqual(found);
  });
});

describe("what to look at next", () => {
  const scenes = [...hold(lake, 30), ...hold(town, 45)];
  const looks = looksOf(scenes).filter((_, frame) => frame % 12 === 0);
  const pictures = scenes.map((_, frame) => ({ seconds: frame / RATE, isKey: frame % 60 === 0 }));
  const ALL = { limit: 96, rounds: 1 };
  const frames = (seconds: number[]) => seconds.map((time) => Math.round(time * RATE));

  it("lies between looks that have little in common, and a little beside", () => {
    const between = [25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35];
    const wanted = doubtfulPictures(looks, pictures, ALL);
    expect(frames(wanted)).toEqual([21, 22, 23, ...between, 37, 38, 39]);
  });

  it("comes closer step by step, where that is much", () => {
    const first = doubtfulPictures(looks, pictures, { limit: 10, rounds: 1 });
    expect(frames(first)).toEqual([26, 31, 37]);
    const closer = looksOf(scenes).filter(({ seconds }, frame) => {
      return frame % 12 === 0 || first.includes(seconds);
    });
    expect(frames(doubtfulPictures(closer, pictures, ALL))).toEqual([
      25, 27, 28, 29, 30, 32, 33, 34,
    ]);
  });

  it("lies around a key picture, where there is one", () => {
    const keyed = pictures.map(({ seconds }, frame) => ({ seconds, isKey: frame === 30 }));
    expect(frames(doubtfulPictures(looks, keyed, ALL))).toEqual([28, 29, 30, 31]);
  });

  it("is no more than is allowed, and nothing once it was looked at", () => {
    expect(doubtfulPictures(looks, pictures, { limit: 2, rounds: 1 })).toEqual([]);
    expect(doubtfulPictures(looksOf(scenes), pictures, ALL)).toEqual([]);
  });

  it("is at most 30 pictures a second", () => {
    const [before, after] = [looksOf(scenes)[28]!, looksOf(scenes)[31]!];
    const dense = Array.from({ length: 360 }, (_, i) => ({ seconds: i / 120, isKey: false }));
    expect(doubtfulPictures([before, after], dense, ALL)).toHaveLength(4);
  });
});

describe("a keyframe", () => {
  const cut: Cut = { startMs: 0, endMs: 4000 };
  const still = (seconds: number, sharpness: number, level: number): SmallStill => {
    return { seconds, sharpness, thumbnail: btoa(String.fromCharCode(level, level)) };
  };
  const dissolve: Transition = { kind: "gradual", from: 1.4, to: 2.6 };

  it.each<[name: string, stills: SmallStill[], transitions: Transition[], ms: number]>([
    ["is the middle where nothing was seen", [], [], 2000],
    ["is the sharpest", [still(0, 10, 9), still(1, 30, 9), still(2, 20, 9)], [], 1000],
    ["is the one nearest the middle of sharp ones", [still(1, 30, 9), still(2, 28, 9)], [], 2000],
    ["is typical", [still(0, 5, 9), still(1, 5, 9), still(3, 90, 200)], [], 1000],
    ["isn't of another shot", [still(3.9, 5, 9), still(4, 90, 9)], [], 3900],
    ["isn't mixed", [still(1, 5, 9), still(2, 90, 9)], [dissolve], 1000],
    ["is mixed where all are", [still(2, 90, 9)], [dissolve], 2000],
    ["is shown at its time", [still(1.0010416, 5, 9)], [], 1002],
  ])("%s", (_, stills, transitions, ms) => {
    expect(keyframeOf(cut, stills, transitions)).toBe(ms);
  });
});

it("a blurred picture is less sharp, and a look of it the same", () => {
  const stripes = (of: (x: number) => number) =>
    Uint8Array.from({ length: 96 ** 2 }, (_, i) => of(i % 96));
  const sharp = stripes((x) => (x % 8 < 4 ? 200 : 40));
  const blurred = stripes((x) => 120 + 80 * Math.sin((x * Math.PI) / 4));
  expect(sharpnessOf(sharp)).toBeGreaterThan(1.5 * sharpnessOf(blurred));
  expect(sharpnessOf(stripes(() => 77))).toBe(0);
  expect(
    lookOf({ seconds: 1, grey: sharp }).cells.every((cell) => cell === 200 || cell === 40),
  ).toBe(true);
});
