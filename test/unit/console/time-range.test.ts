import { expect, it } from "vitest";

interface TimeRange {
  start_seconds: number;
  end_seconds: number;
}

/** The functions under test; the console is plain JavaScript without types. */
interface TimeRangeModule {
  segmentAt: (segments: TimeRange[], range: { start: number; end: number }) => TimeRange | null;
  timeRangeProblem: (start: number, end: number, duration: number) => string | null;
}

const file = new URL("../../../console/console/player/time-range.js", import.meta.url).href;
const { segmentAt, timeRangeProblem } = (await import(file)) as TimeRangeModule;

const SEGMENTS = [
  { start_seconds: 0, end_seconds: 5 },
  { start_seconds: 5, end_seconds: 8 },
  { start_seconds: 8, end_seconds: 20 },
];

it.each([
  [1, 2, 0],
  [4, 8, 1],
  [0, 100, 2],
  [5, 5.5, 1],
])("The part from %d to %d lies mostly in segment %d", (start, end, position) => {
  expect(segmentAt(SEGMENTS, { start, end })).toBe(SEGMENTS[position]);
});

it("A part outside of all segments has no segment", () => {
  expect(segmentAt(SEGMENTS, { start: 30, end: 40 })).toBeNull();
  expect(segmentAt([], { start: 0, end: 1 })).toBeNull();
});

it.each([
  [NaN, 3, /Give a start and an end/],
  [1, NaN, /Give a start and an end/],
  [-1, 3, /before the video begins/],
  [3, 3, /end must come after/],
  [20, 21, /after the end of the video/],
])("A part from %d to %d of a video of 20 seconds is refused", (start, end, message) => {
  expect(timeRangeProblem(start, end, 20)).toMatch(message);
});

it.each([20, NaN])("A part is accepted in a video of %d seconds", (duration) => {
  expect(timeRangeProblem(0, 3.5, duration)).toBeNull();
});
