import { describe, expect, it } from "vitest";
import { WHOLE } from "../../../src/media/pixels/registration.ts";
import type { TimedThumbnail } from "../../../src/media/shots/contact-sheet.ts";
import { COPY_DETECTION } from "../../../src/parameters.ts";
import { alignTemporally, type TemporalAlignment } from "../../../src/search/temporal-alignment.ts";
import type { TimeRange } from "../../../src/time-range.ts";

const SIDE = COPY_DETECTION.thumbnailSide;

/** Luma (0–255) of a synthetic video at a time (seconds) and a position, both ways from 0 to 1. */
type Video = (seconds: number, x: number, y: number) => number;

/** Blobs that each move in their own direction. */
function movingBlobs(seed: number): Video {
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
    blobs.reduce((luma, blob) => {
      const left = x - Math.abs(((blob.x + blob.across * seconds + 100) % 2) - 1);
      const top = y - Math.abs(((blob.y + blob.down * seconds + 100) % 2) - 1);
      return luma + blob.height * Math.exp(-(left ** 2 + top ** 2) / blob.size ** 2);
    }, 120);
}

const reference = movingBlobs(1);
const unrelated = movingBlobs(2);

function sampleVideo(
  start: number,
  end: number,
  perSecond: number,
  video: Video,
): TimedThumbnail[] {
  const count = Math.round((end - start) * perSecond);
  return Array.from({ length: count }, (_, frame) => {
    const seconds = start + frame / perSecond;
    const lumaThumbnail = Uint8Array.from({ length: SIDE * SIDE }, (_, i) => {
      const luma = video(seconds, ((i % SIDE) + 0.5) / SIDE, (Math.floor(i / SIDE) + 0.5) / SIDE);
      return Math.min(255, Math.max(0, Math.round(luma)));
    });
    return { seconds, lumaThumbnail };
  });
}

function sampleReference(video: Video): TimedThumbnail[] {
  return sampleVideo(0, 60, COPY_DETECTION.referenceFramesPerSecond, video);
}

const defaultReferenceFrames = sampleReference(reference);

interface AlignmentCase {
  /** Duration of the query clip. */
  seconds: number;
  query: Video;
  /** A time of the clip and the matching time of the reference. */
  frameMatch: [querySeconds: number, referenceSeconds: number];
  referenceFrames?: TimedThumbnail[];
  isMirrored?: boolean;
  /** The part of the clip that is searched for, by default all of it. */
  range?: TimeRange;
}

function align({
  seconds,
  query,
  frameMatch: [querySeconds, referenceSeconds],
  referenceFrames = defaultReferenceFrames,
  isMirrored = false,
  range = { start: 0, end: seconds },
}: AlignmentCase) {
  const { start, end } = range;
  const queryFrames = sampleVideo(start, end, COPY_DETECTION.queryFramesPerSecond, query);
  const registration = { area: WHOLE, isMirrored, correlation: 1 };
  return alignTemporally(range, queryFrames, referenceFrames, registration, [
    { querySeconds, referenceSeconds },
  ]);
}

/** Expects the times of the first alignment to a tenth of a second. */
function expectRange([first]: TemporalAlignment[], start: number, end: number) {
  expect(first!.start).toBeGreaterThan(start - 0.15);
  expect(first!.start).toBeLessThan(start + 0.15);
  expect(first!.end).toBeGreaterThan(end - 0.15);
  expect(first!.end).toBeLessThan(end + 0.15);
}

describe("temporal alignment", () => {
  it.each([
    [10, 5],
    [10.13, 5],
    [31.37, 3],
    [0, 8],
    [52.9, 7],
  ])("finds a copy that starts at %d s and lasts %d s", (start, seconds) => {
    const query: Video = (at, x, y) => reference(start + at, x, y);
    const alignments = align({ seconds, query, frameMatch: [1, start + 1] });
    expectRange(alignments, start, start + seconds);
    expect(alignments[0]!.similarity).toBeGreaterThan(0.95);
    expect(alignments[0]!.speed).toBeCloseTo(1, 1);
  });

  it.each([0.95, 1.05])("finds a copy of which the reference runs at %d of its speed", (speed) => {
    const query: Video = (at, x, y) => reference(20 + at * speed, x, y);
    const alignments = align({ seconds: 10, query, frameMatch: [4, 20 + 4 * speed] });
    expectRange(alignments, 20, 20 + 10 * speed);
    expect(Math.abs(alignments[0]!.speed - speed)).toBeLessThan(0.02);
  });

  it("finds a copy by a frame match that is four seconds off", () => {
    const query: Video = (at, x, y) => reference(25 + at, x, y);
    expectRange(align({ seconds: 6, query, frameMatch: [0, 29] }), 25, 31);
  });

  it("finds a mirrored copy", () => {
    const query: Video = (at, x, y) => reference(15 + at, 1 - x, y);
    expectRange(align({ seconds: 6, query, frameMatch: [0, 15], isMirrored: true }), 15, 21);
  });

  it("finds only the time range of the clip that is searched for", () => {
    const query: Video = (at, x, y) => reference(40 + at, x, y);
    const range = { start: 3.2, end: 7 };
    expectRange(align({ seconds: 9, query, frameMatch: [4, 44], range }), 43.2, 47);
  });

  it("leaves out the start and the end of a clip that aren't in the reference", () => {
    const query: Video = (at, x, y) => (at >= 3 && at < 8 ? reference : unrelated)(at + 12, x, y);
    const alignments = align({ seconds: 12, query, frameMatch: [4, 16] });
    expect(Math.abs(alignments[0]!.start - 15)).toBeLessThan(0.4);
    expect(Math.abs(alignments[0]!.end - 20)).toBeLessThan(0.4);
  });

  it("finds every repetition of a copy in the reference", () => {
    const repeated: Video = (at, x, y) => reference(at < 30 ? at : at - 30, x, y);
    const query: Video = (at, x, y) => reference(10 + at, x, y);
    const queryFrames = sampleVideo(0, 5, COPY_DETECTION.queryFramesPerSecond, query);
    const frameMatches = [10, 40].map((at) => ({ querySeconds: 0, referenceSeconds: at }));
    const alignments = alignTemporally(
      { start: 0, end: 5 },
      queryFrames,
      sampleReference(repeated),
      { area: WHOLE, isMirrored: false, correlation: 1 },
      frameMatches,
    );
    const starts = alignments.map(({ start }) => Math.round(start)).toSorted((a, b) => a - b);
    expect(starts).toEqual([10, 40]);
  });

  it("finds no copy of an unrelated video", () => {
    const alignments = align({ seconds: 6, query: unrelated, frameMatch: [0, 20] });
    const { minCopySimilarity } = COPY_DETECTION;
    expect(alignments.every(({ similarity }) => similarity < minCopySimilarity)).toBe(true);
  });

  it("finds nothing without reference frames", () => {
    const query: Video = (at, x, y) => reference(20 + at, x, y);
    expect(align({ seconds: 5, query, frameMatch: [0, 20], referenceFrames: [] })).toEqual([]);
  });
});

describe("temporal alignment with a reference that is static from 20 to 32 s", () => {
  const frozen: Video = (at, x, y) => reference(at < 20 ? at : Math.max(20, at - 12), x, y);
  const referenceFrames = sampleReference(frozen);

  it("places a static clip somewhere in the static range", () => {
    const query: Video = (_, x, y) => reference(20, x, y);
    const [first] = align({ seconds: 4, query, frameMatch: [0, 22], referenceFrames });
    expect(first!.start).toBeGreaterThan(19.5);
    expect(first!.end).toBeLessThan(32.5);
    expect(first!.speed).toBe(1);
  });

  it("finds nothing for a flat clip", () => {
    expect(align({ seconds: 4, query: () => 16, frameMatch: [0, 20], referenceFrames })).toEqual(
      [],
    );
  });
});
