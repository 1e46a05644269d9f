import { describe, expect, it } from "vitest";
import { FOOTAGE } from "../../src/config.ts";
import { WHOLE } from "../../src/media/overlap.ts";
import type { TimedThumbnail } from "../../src/media/thumbnails.ts";
import { align, type Alignment, type Region } from "../../src/search/align.ts";

const SIDE = FOOTAGE.thumbnailSide;

/** Grey level (0–255) of a film at a moment (seconds) and place, both ways from 0 to 1. */
type Film = (seconds: number, x: number, y: number) => number;

/** Blobs that wander about, each its own way. */
function wander(seed: number): Film {
  let state = seed * 7919 + 17;
  const random = () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
  for (let i = 0; i < 5; i++) random();
  const blobs = Array.from({ length: 12 }, () => ({
    x: random(),
    y: random(),
    across: 0.3 * (random() - 0.5),
    down: 0.3 * (random() - 0.5),
    size: 0.08 + 0.15 * random(),
    height: 200 * (random() - 0.5),
  }));
  return (seconds, x, y) =>
    blobs.reduce((level, blob) => {
      const left = x - Math.abs(((blob.x + blob.across * seconds + 100) % 2) - 1);
      const top = y - Math.abs(((blob.y + blob.down * seconds + 100) % 2) - 1);
      return level + blob.height * Math.exp(-(left ** 2 + top ** 2) / blob.size ** 2);
    }, 120);
}

const film = wander(1);
const other = wander(2);

function stills(from: number, to: number, perSecond: number, shown: Film): TimedThumbnail[] {
  const count = Math.round((to - from) * perSecond);
  return Array.from({ length: count }, (_, at) => {
    const seconds = from + at / perSecond;
    const thumbnail = Uint8Array.from({ length: SIDE * SIDE }, (_, i) => {
      const level = shown(seconds, ((i % SIDE) + 0.5) / SIDE, (Math.floor(i / SIDE) + 0.5) / SIDE);
      return Math.min(255, Math.max(0, Math.round(level)));
    });
    return { seconds, thumbnail };
  });
}

const stored = stills(0, 60, FOOTAGE.storedPerSecond, film);

interface Question {
  /** How long the clip is, in seconds. */
  seconds: number;
  shown: Film;
  /** A moment of the clip, and that of the film that it is found by. */
  pair: [asked: number, stored: number];
  known?: TimedThumbnail[];
  isMirrored?: boolean;
  region?: Region;
}

function find({ seconds, shown, pair, known = stored, isMirrored = false, region }: Question) {
  const wanted = region ?? { start: 0, end: seconds };
  const asked = stills(wanted.start, wanted.end, FOOTAGE.askedPerSecond, shown);
  const place = { area: WHOLE, isMirrored, fit: 1 };
  return align(wanted, asked, known, place, [{ asked: pair[0], stored: pair[1] }]);
}

/** Holds for an alignment to a tenth of a second. */
function isAt([first]: Alignment[], start: number, end: number) {
  expect(first!.start).toBeGreaterThan(start - 0.15);
  expect(first!.start).toBeLessThan(start + 0.15);
  expect(first!.end).toBeGreaterThan(end - 0.15);
  expect(first!.end).toBeLessThan(end + 0.15);
}

describe("footage is found in time", () => {
  it.each([
    [10, 5],
    [10.13, 5],
    [31.37, 3],
    [0, 8],
    [52.9, 7],
  ])("from %d s on, %d s of it", (start, seconds) => {
    const shown: Film = (at, x, y) => film(start + at, x, y);
    const found = find({ seconds, shown, pair: [1, start + 1] });
    isAt(found, start, start + seconds);
    expect(found[0]!.similarity).toBeGreaterThan(0.95);
    expect(found[0]!.speed).toBeCloseTo(1, 1);
  });

  it.each([0.95, 1.05])("at %d of its speed", (speed) => {
    const shown: Film = (at, x, y) => film(20 + at * speed, x, y);
    const found = find({ seconds: 10, shown, pair: [4, 20 + 4 * speed] });
    isAt(found, 20, 20 + 10 * speed);
    expect(Math.abs(found[0]!.speed - speed)).toBeLessThan(0.02);
  });

  it("from a pair that is some seconds off", () => {
    isAt(find({ seconds: 6, shown: (at, x, y) => film(25 + at, x, y), pair: [0, 29] }), 25, 31);
  });

  it("mirrored", () => {
    const shown: Film = (at, x, y) => film(15 + at, 1 - x, y);
    isAt(find({ seconds: 6, shown, pair: [0, 15], isMirrored: true }), 15, 21);
  });

  it("in the part of the clip that is asked about", () => {
    const shown: Film = (at, x, y) => film(40 + at, x, y);
    isAt(find({ seconds: 9, shown, pair: [4, 44], region: { start: 3.2, end: 7 } }), 43.2, 47);
  });

  it("as far as it is there", () => {
    const shown: Film = (at, x, y) => (at >= 3 && at < 8 ? film : other)(at + 12, x, y);
    const found = find({ seconds: 12, shown, pair: [4, 16] });
    expect(Math.abs(found[0]!.start - 15)).toBeLessThan(0.4);
    expect(Math.abs(found[0]!.end - 20)).toBeLessThan(0.4);
  });

  it("each time that it is shown", () => {
    const again: Film = (at, x, y) => film(at < 30 ? at : at - 30, x, y);
    const known = stills(0, 60, FOOTAGE.storedPerSecond, again);
    const asked = stills(0, 5, FOOTAGE.askedPerSecond, (at, x, y) => film(10 + at, x, y));
    const place = { area: WHOLE, isMirrored: false, fit: 1 };
    const pairs = [10, 40].map((at) => ({ asked: 0, stored: at }));
    const found = align({ start: 0, end: 5 }, asked, known, place, pairs);
    expect(found.map(({ start }) => Math.round(start)).toSorted((a, b) => a - b)).toEqual([10, 40]);
  });
});

describe("where nothing moves", () => {
  const still: Film = (at, x, y) => film(at < 20 ? at : Math.max(20, at - 12), x, y);
  const known = stills(0, 60, FOOTAGE.storedPerSecond, still);

  it("it is somewhere in the stretch", () => {
    const [found] = find({ seconds: 4, shown: (_, x, y) => film(20, x, y), pair: [0, 22], known });
    expect(found!.start).toBeGreaterThan(19.5);
    expect(found!.end).toBeLessThan(32.5);
    expect(found!.speed).toBe(1);
  });

  it("a flat picture is nowhere", () => {
    expect(find({ seconds: 4, shown: () => 16, pair: [0, 20], known })).toEqual([]);
  });
});

it("other footage isn't found", () => {
  const found = find({ seconds: 6, shown: other, pair: [0, 20] });
  expect(found.every(({ similarity }) => similarity < FOOTAGE.same)).toBe(true);
});

it("what isn't known of the video isn't found in it", () => {
  const shown: Film = (at, x, y) => film(20 + at, x, y);
  expect(find({ seconds: 5, shown, pair: [0, 20], known: [] })).toEqual([]);
});
