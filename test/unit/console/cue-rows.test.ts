import { expect, it } from "vitest";
import type { Cue } from "../../../src/types.ts";

interface Row {
  start: string;
  end: string;
  text: string;
  isDeleted: boolean;
}

/** The functions under test; the console is plain JavaScript without types. */
interface CueRows {
  addRow: (rows: Row[], seconds: number, duration: number) => { rows: Row[]; position: number };
  countChanges: (rows: Row[], cues: Cue[]) => number;
  cuesOf: (rows: Row[]) => Cue[];
  formatTime: (seconds: number) => string;
  parseTime: (text: string) => number | null;
  rowProblems: (rows: Row[], duration: number) => { position: number; field: string }[];
  rowsOf: (cues: Cue[]) => Row[];
}

const file = new URL("../../../console/console/transcripts/cue-rows.js", import.meta.url).href;
const { addRow, countChanges, cuesOf, formatTime, parseTime, rowProblems, rowsOf } = (await import(
  file
)) as CueRows;

const CUES = [
  { start: 1, end: 2.5, text: "Good morning." },
  { start: 65.25, end: 70, text: "The kettle is on." },
];
const row = (start: string, end: string, text = "A line.") => {
  return { start, end, text, isDeleted: false };
};

it.each([
  ["75.5", 75.5],
  ["1:15.5", 75.5],
  [" 1:15,5 ", 75.5],
  ["1:01:15", 3675],
  ["0:60", null],
  ["-1", null],
  ["1:2:3:4", null],
  ["soon", null],
  ["", null],
])("The text %j is the time %j in seconds", (text, seconds) => {
  expect(parseTime(text)).toBe(seconds);
});

it.each([0, 1.005, 9.999, 59.9996, 75.5, 3675, 36_000.25])(
  "The time %d is the same to the millisecond after it is formatted and parsed",
  (seconds) => {
    expect(parseTime(formatTime(seconds))).toBe(Math.round(seconds * 1000) / 1000);
  },
);

it("Unchanged rows are the cues they were made of", () => {
  expect(cuesOf(rowsOf(CUES))).toEqual(CUES);
  expect(countChanges(rowsOf(CUES), CUES)).toBe(0);
});

it("Deleted and empty rows are left out, and the others are ordered by start", () => {
  const rows = [row("9", "10", "Last"), row("3", "4", " "), row("1", "2", "First")];
  const deleted = { ...row("5", "6"), isDeleted: true };
  expect(cuesOf([...rows, deleted]).map(({ text }) => text)).toEqual(["First", "Last"]);
});

it.each([
  ["a deleted row", (rows: Row[]) => rows.with(0, { ...rows[0]!, isDeleted: true }), 1],
  ["a changed text", (rows: Row[]) => rows.with(0, { ...rows[0]!, text: "Hi." }), 1],
  ["a changed time", (rows: Row[]) => rows.with(1, { ...rows[1]!, end: "1:11" }), 1],
  ["an added row", (rows: Row[]) => [...rows, row("80", "81")], 1],
  ["an added row without text", (rows: Row[]) => [...rows, row("80", "81", "")], 0],
])("A transcript with %s has this number of changes", (_, change, changes) => {
  expect(countChanges(change(rowsOf(CUES)), CUES)).toBe(changes);
});

it.each([
  ["before another", 0.5, 0, "0:00.5", "0:01"],
  ["between two", 3, 1, "0:03", "0:06"],
  ["near the end", 99, 2, "1:39", "1:40"],
  ["at the end", 100, 2, "1:37", "1:40"],
])(
  "A row that is added %s starts where the video is, if a line fits there",
  (_, seconds, position, start, end) => {
    const added = addRow(rowsOf(CUES), seconds, 100);
    expect(added.position).toBe(position);
    expect(added.rows[position]).toEqual(row(start, end, ""));
  },
);

it.each([
  ["valid times", row("1", "2"), 10, []],
  ["a start that is not a time", row("x", "2"), 10, ["start"]],
  ["no end", row("1", ""), 10, ["end"]],
  ["an end before the start", row("3", "2"), 10, ["end"]],
  ["a start after the video", row("10", "11"), 10, ["start"]],
  ["a start after a video of unknown length", row("10", "11"), NaN, []],
  ["wrong times and no text", row("x", "y", ""), 10, []],
])("A row with %s has its problem at the field that is wrong", (_, one, duration, fields) => {
  expect(rowProblems([one], duration).map(({ field }) => field)).toEqual(fields);
});
