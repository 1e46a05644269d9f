import { describe, expect, it } from "vitest";
import type { Cut, CutList } from "../../../src/exports/cut-list.ts";
import { EXPORT_FORMAT_NAMES, exportFormat } from "../../../src/exports/formats.ts";
import { createRandom } from "../../../tools/random-numbers.ts";
import {
  readCsv,
  countFrames,
  readEdl,
  readFcpxml,
  readMarkerEdl,
  readOtio,
  readPremiereXml,
} from "../../support/cut-list-readers.ts";
import { listOf, randomMoments } from "../../support/cut-lists.ts";

const LISTS = 1000;

/** What a format must say of a list, and what a reader of its own finds in the file. */
type RoundTrip = (list: CutList, text: string) => [expected: unknown, read: unknown];

const name = ({ source }: Cut) => source.name;
const sourceOf = ({ source, sourceIn, sourceOut }: Cut) => {
  return [source.timecode.start + sourceIn, source.timecode.start + sourceOut];
};
const recordOf = ({ timecode: { start } }: CutList, { recordIn, recordOut }: Cut) => {
  return [start + recordIn, start + recordOut];
};
const edges = (list: CutList) =>
  list.cuts.map((cut) => ({ name: name(cut), source: sourceOf(cut), record: recordOf(list, cut) }));
/** The same by timecode, which begins again at midnight. */
const timecodeEdges = (list: CutList) =>
  edges(list).map(({ name: clip, source, record }, i) => {
    const { mode, rate } = list.cuts[i]!.source.timecode;
    const day = countFrames(mode === "DF" ? "24:00:00;00" : "24:00:00:00", rate);
    return { name: clip, source: source.map((frame) => frame % day), record };
  });
const rates = ({ cuts }: CutList) => cuts.map(({ source }) => source.timecode.rate);

const ROUND_TRIPS: Record<(typeof EXPORT_FORMAT_NAMES)[number], RoundTrip> = {
  edl: (list, text) => [timecodeEdges(list), readEdl(text, list.timecode.rate, rates(list))],
  fcpxml: (list, text) => [
    edges(list).map(({ source: [from], ...cut }) => Object.assign(cut, { source: [from, NaN] })),
    readFcpxml(text),
  ],
  premiere_xml: (list, text) => [edges(list), readPremiereXml(text)],
  otio: (list, text) => [
    edges(list).map(({ name: clip, source }) => ({ name: clip, source })),
    readOtio(text),
  ],
  markers_edl: (list, text) => [
    list.cuts.map((cut) => ({
      name: cut.label.replaceAll("|", "/"),
      note: cut.note.replaceAll("|", "/"),
      color: colorOf(cut.score),
      record: recordOf(list, cut),
    })),
    readMarkerEdl(text, list.timecode.rate),
  ],
  markers_csv: (list, text) => [
    timecodeEdges(list).map(({ name: clip, source, record }, i) => {
      return { source, record, clip, color: colorOf(list.cuts[i]!.score) };
    }),
    readCsv(text).map((row, i) => {
      const times = ["Source In", "Source Out", "Record In", "Record Out"].map((column, at) =>
        countFrames(row[column]!, at < 2 ? rates(list)[i]! : list.timecode.rate),
      );
      const clip = row["EDL Clip Name"]!.replace(/'(?=\s*=)/, "");
      return { source: times.slice(0, 2), record: times.slice(2), clip, color: row["Color"] };
    }),
  ],
  chapters: (list, text) => [
    list.cuts.map(({ label, recordIn }) => `${Math.floor(secondsOf(list, recordIn))} ${label}`),
    text
      .split("\n")
      .slice(0, -1)
      .map((line) => {
        const [, clock, label] = /^(\S+) (.*)$/.exec(line)!;
        const seconds = clock!.split(":").reduce((sum, part) => 60 * sum + Number(part), 0);
        return `${seconds} ${label}`;
      }),
  ],
  chapters_vtt: (list, text) => [
    list.cuts.map(({ recordIn, recordOut }) => [recordIn, recordOut]),
    [...text.matchAll(/^(\S+) --> (\S+)$/gm)].map(([, ...times]) =>
      times.map((time) => {
        const [hours, minutes, seconds] = time.split(":").map(Number) as [number, number, number];
        const { numerator, denominator } = list.timecode.rate;
        return Math.round(((hours * 3600 + minutes * 60 + seconds) * numerator) / denominator);
      }),
    ),
  ],
};

const colorOf = (score: number | null) => {
  if (score === null) return "Blue";
  return score >= 0.8 ? "Green" : score >= 0.5 ? "Yellow" : "Red";
};
const secondsOf = ({ timecode: { rate } }: CutList, frame: number) =>
  (frame * rate.denominator) / rate.numerator;

describe.each(EXPORT_FORMAT_NAMES)("%s", (format) => {
  it(`of ${LISTS} random cut lists is read back frame for frame, or refused with a sentence`, () => {
    const { format: write, refuse, isCounted } = exportFormat(format);
    let written = 0;
    for (let seed = 0; seed < LISTS; seed++) {
      const random = createRandom(seed);
      const moments = randomMoments(random);
      const fps = random() < 0.5 ? {} : { fps: [25, 29.97, 23.976, 50, 59.94][seed % 5] };
      const handlesMs = random() < 0.5 ? 0 : 12_000;
      const list = listOf(moments, { ...fps, handlesMs }, isCounted);
      const refusal = refuse?.(list) ?? null;
      if (refusal !== null) {
        expect(refusal).toMatch(/^[A-Z].*\.$/);
        continue;
      }
      const [expected, read] = ROUND_TRIPS[format](list, write(list));
      expect({ seed, cuts: read }).toEqual({ seed, cuts: expected });
      written++;
    }
    expect(written).toBeGreaterThan(LISTS / 4);
  });
});
