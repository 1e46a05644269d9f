import { expect, it } from "vitest";
import { formatTotal } from "../../../../client/src/cli/progress-bars.ts";
import {
  formatBytes,
  formatClock,
  formatCount,
  formatDuration,
  formatRange,
} from "../../../../client/src/cli/quantity-format.ts";

it.each([
  [0, "0:00"],
  [41.9, "0:41"],
  [61, "1:01"],
  [3600, "1:00:00"],
  [36_061, "10:01:01"],
])("%d s is the time %s", (seconds, text) => {
  expect(formatClock(seconds)).toBe(text);
});

it("a time range has both its ends, and an image none", () => {
  expect(formatRange(41, 47.5)).toBe("0:41–0:47");
  expect(formatRange(null, null)).toBe("");
});

it.each([
  [0.4, "0 s"],
  [59.4, "59 s"],
  [60, "1 min 0 s"],
  [3599, "59 min 59 s"],
  [7320, "2 h 2 min"],
])("%d s last %s", (seconds, text) => {
  expect(formatDuration(seconds)).toBe(text);
});

it.each([
  [0, "0 B"],
  [999, "999 B"],
  [1000, "1.0 kB"],
  [99_500, "100 kB"],
  [999_600, "1.0 MB"],
  [5_368_709_120, "5.4 GB"],
])("%i bytes are %s", (bytes, text) => {
  expect(formatBytes(bytes)).toBe(text);
});

it("a count has the singular for one only", () => {
  expect([0, 1, 2].map((count) => formatCount(count, "index", "indices"))).toEqual([
    "0 indices",
    "1 index",
    "2 indices",
  ]);
});

it("the total of an upload estimates the time left from the bytes that are done", () => {
  const tasks = [
    { weight: 30, fraction: 1 },
    { weight: 70, fraction: 0 },
  ];
  expect(formatTotal(tasks, 60)).toMatch(/^Total: 1 of 2 .* 30 % {2}about 2 min 20 s left$/);
  expect(formatTotal([{ weight: 1, fraction: 0.01 }], 60)).not.toContain("left");
});
