import { estimateWork } from "sightline/node";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { formatTotal, IngestProgress } from "../../../tools/ingest-progress.ts";
import { formatProgress } from "../../../tools/progress.ts";
import { formatRemainingTime, RemainingTime } from "../../../tools/remaining-time.ts";

beforeEach(() => void vi.useFakeTimers({ now: 1_000_000 }));
afterEach(() => void vi.useRealTimers());

it.each([
  [
    { done: 12, failed: 1, total: 200, secondsLeft: 245 },
    "12 of 200 files done, 1 failed, about 4 min left",
  ],
  [{ done: 0, failed: 0, total: 1, secondsLeft: null }, "0 of 1 file done"],
])("the total of %j is %j", (total, expected) => {
  expect(formatTotal(total)).toBe(expected);
});

it.each([
  [20, "less than a minute left"],
  [61, "about 1 min left"],
  [3 * 3600 + 300, "about 3 h 5 min left"],
])("%i seconds left are %j", (seconds, expected) => {
  expect(formatRemainingTime(seconds)).toBe(expected);
});

it("the time left follows from the rate of the last minute", () => {
  const remaining = new RemainingTime();
  const record = (at: number, done: number) => remaining.record(at, { done, left: 1 - done });
  record(0, 0);
  expect(remaining.seconds()).toBeNull();
  record(4000, 0.1);
  expect(remaining.seconds()).toBeNull();
  record(10_000, 0.1);
  expect(remaining.seconds()).toBeCloseTo(90);
  // A slow minute: 0.1 more.
  for (let at = 11_000; at <= 70_000; at += 1000) record(at, 0.1 + (at - 10_000) / 600_000);
  expect(remaining.seconds()).toBeCloseTo(480);
});

it("known and failed files don't count towards the rate", () => {
  const lines: string[] = [];
  const output = { isTTY: false, write: (line: string) => lines.push(line) };
  const files = Array.from({ length: 102 }, (_, i) => {
    return { name: `${i}.mp4`, kind: "video" as const, bytes: 10e6 };
  });
  const progress = new IngestProgress(output as unknown as NodeJS.WriteStream, files);
  for (let i = 0; i < 99; i++) progress.finish(i, "known");
  progress.finish(99, "failed");
  // Recognising the known files took 30 s.
  vi.advanceTimersByTime(30_000);
  progress.update(100, 0, "uploading");
  vi.advanceTimersByTime(60_000);
  progress.update(100, 0.5, "uploading");
  expect(lines.at(-1)).toBe("99 of 102 files done, 1 failed, about 3 min left\n");
});

it("the time left counts images and the duration of videos, not bytes", () => {
  const lines: string[] = [];
  const output = { isTTY: false, write: (line: string) => lines.push(line) };
  const files = [
    { name: "large.jpg", kind: "image" as const, bytes: 20e6 },
    { name: "lecture.mp4", kind: "video" as const, bytes: 20e6, seconds: 3600 },
  ];
  const progress = new IngestProgress(output as unknown as NodeJS.WriteStream, files);
  progress.update(0, 0, "describe");
  vi.advanceTimersByTime(10_000);
  progress.finish(0, "added");
  expect(lines.at(-1)).toBe("1 of 2 files done, about 2 h 0 min left\n");
});

it("a video of unknown duration counts by its size, and more than an image", () => {
  const of = (bytes: number) => estimateWork({ kind: "video", bytes });
  expect(of(40e6)).toBeCloseTo(estimateWork({ kind: "video", bytes: 1, seconds: 100 }));
  expect(of(1)).toBeGreaterThan(estimateWork({ kind: "image", bytes: 40e6 }));
});

it("a long name is cut in its middle, so that its number and its end can be read", () => {
  const name = "IMG_20230714_183205_HDR_BURST001_COVER_007.jpg";
  const line = formatProgress({ name, state: "uploading", fraction: 0.5 });
  expect(line).toMatch(/^ {2}IMG_20230714_1…1_COVER_007\.jpg {2}█{12}░{12}/);
});
