import { expect, it } from "vitest";
import { parseTranscript } from "../../../src/ingest/transcript/parse.ts";
import type { Cue } from "../../../src/types.ts";

/** The functions under test; the console is plain JavaScript without types. */
interface Cues {
  cueAt: (cues: Cue[], seconds: number) => number;
  findCues: (cues: Cue[], term: string) => number[];
  formatWebVtt: (cues: Cue[], language: string | null) => string;
  splitMatches: (text: string, term: string) => string[];
}

const file = new URL("../../../console/console/transcripts/cues.js", import.meta.url).href;
const { cueAt, findCues, formatWebVtt, splitMatches } = (await import(file)) as Cues;

const CUES = [
  { start: 1, end: 2, text: "Good morning." },
  { start: 3, end: 6, text: "The kettle is on." },
  { start: 3, end: 4, text: "Morning!" },
];

it.each([
  [0.9, -1],
  [1, 0],
  [2.5, 0],
  [3, 2],
  [99, 2],
])("At second %d the current cue is at position %d", (seconds, position) => {
  expect(cueAt(CUES, seconds)).toBe(position);
});

it("A transcript without cues has no current cue", () => {
  expect(cueAt([], 5)).toBe(-1);
});

it.each([
  ["morning", [0, 2]],
  ["KETTLE", [1]],
  [".", [0, 1]],
  ["tea", []],
])("Searching a transcript for %s finds the cues %j", (term, positions) => {
  expect(findCues(CUES, term)).toEqual(positions);
});

it.each([
  ["a cat, a Cat", "cat", ["a ", "cat", ", a ", "Cat", ""]],
  ["1 + 1 (two)", "(two)", ["1 + 1 ", "(two)", ""]],
  ["ĀÖ 東京タワー", "東京", ["ĀÖ ", "東京", "タワー"]],
  ["nothing", "x", ["nothing"]],
  ["nothing", "", ["nothing"]],
])("The text %s is split at the occurrences of %s", (text, term, parts) => {
  expect(splitMatches(text, term)).toEqual(parts);
});

it("WebVTT has the language, hours, milliseconds and escaped text", () => {
  const cues = [{ start: 3661.0004, end: 3662.5, text: "a < b\r\n\r\n  & c --> d " }];
  expect(formatWebVtt(cues, "de")).toBe(
    "WEBVTT\nLanguage: de\n\n01:01:01.000 --> 01:01:02.500\na &lt; b\n&amp; c --&gt; d\n",
  );
});

it("Cues that are written as WebVTT are read back by the service unchanged", () => {
  const cues = [
    { start: 0, end: 0.999, text: "00:01.000 --> 00:02.000" },
    { start: 59.9996, end: 61, text: "NOTE <b>not bold</b> &amp; &lt;" },
    { start: 86_400, end: 90_000.25, text: "שלום\n東京 👩‍👩‍👧" },
  ];
  const bytes = new TextEncoder().encode(formatWebVtt(cues, "he"));
  const read = parseTranscript(bytes);
  expect(read.language).toBe("he");
  expect(read.cues).toEqual([cues[0], { ...cues[1], start: 60 }, cues[2]]);
});

it("A cue whose text was deleted is left out of WebVTT", () => {
  const cues = [
    { start: 1, end: 2, text: " \n " },
    { start: 3, end: 4, text: "Left." },
  ];
  expect(formatWebVtt(cues, null)).toBe("WEBVTT\n\n00:00:03.000 --> 00:00:04.000\nLeft.\n");
});
