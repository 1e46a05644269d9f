import { expect, it } from "vitest";

interface Moment {
  segment_id: string;
  asset_id: string;
  asset_type: string;
  title: string;
  start_seconds: number | null;
  end_seconds: number | null;
  linked_at?: number;
}

/** The functions under test; the console is plain JavaScript without types. */
interface CutList {
  MAX_MOMENTS: number;
  addMoment: (list: Moment[], moment: Moment) => Moment[];
  isOutdated: (moment: { linked_at?: number }, now: number) => boolean;
  moveMoment: (list: Moment[], from: number, to: number) => Moment[];
  parseMoments: (json: string | null) => Moment[];
  removeMoment: (list: Moment[], moment: Moment) => Moment[];
  totalSeconds: (list: Moment[]) => number;
}

interface Csv {
  formatCsv: (list: Moment[]) => string;
}

const file = new URL("../../../console/console/cut-list/cut-list.js", import.meta.url).href;
const cutList = (await import(file)) as CutList;
const csvFile = new URL("../../../console/console/cut-list/cut-list-csv.js", import.meta.url).href;
const { formatCsv } = (await import(csvFile)) as Csv;
const { addMoment, moveMoment, parseMoments, removeMoment, totalSeconds } = cutList;

const moment = (id: string, start: number | null = 1, end: number | null = 3): Moment => ({
  segment_id: id,
  asset_id: "vid_1",
  asset_type: start === null ? "image" : "video",
  title: `${id}.mp4`,
  start_seconds: start,
  end_seconds: end,
});
const [A, B, C] = [moment("a"), moment("b"), moment("c", null, null)];
const ids = (list: Moment[]) => list.map(({ segment_id: id }) => id).join("");

it("A moment is added once, and a part of its segment is another moment", () => {
  const list = addMoment(addMoment([A], B), { ...A });
  expect(ids(list)).toBe("ab");
  expect(ids(addMoment(list, moment("a", 1, 2)))).toBe("aba");
});

it("A full cut list takes no further moment", () => {
  const full = Array.from({ length: cutList.MAX_MOMENTS }, (_, i) => moment(`s${i}`));
  expect(addMoment(full, A)).toBe(full);
});

it.each([
  [0, 2, "bca"],
  [2, 0, "cab"],
  [1, 1, "abc"],
  [0, -1, "abc"],
  [2, 3, "abc"],
])("Moving a moment from %d to %d gives the order %s", (from, to, order) => {
  expect(ids(moveMoment([A, B, C], from, to))).toBe(order);
});

it("A removed moment leaves the others, and images have no length", () => {
  expect(ids(removeMoment([A, B, C], B))).toBe("ac");
  expect(totalSeconds([A, B, C])).toBe(4);
});

it.each([null, "", "{", "{}", "[1, null]", '[{"segment_id": "a"}]', '[{"start_seconds": 1}]'])(
  "A stored value of %s is an empty cut list",
  (json) => {
    expect(parseMoments(json)).toEqual([]);
  },
);

it("A stored cut list is read back unchanged", () => {
  expect(parseMoments(JSON.stringify([A, C]))).toEqual([A, C]);
});

it.each([
  [{}, true],
  [{ linked_at: 0 }, true],
  [{ linked_at: 3_600_000 }, false],
])("An hour after the epoch, the links of %j are outdated: %s", (links, isOutdated) => {
  expect(cutList.isOutdated(links, 3_600_001)).toBe(isOutdated);
});

it("CSV quotes titles and disarms those that a spreadsheet would run", () => {
  const list = [
    { ...A, title: 'a "b", c\nd', start_seconds: 0.1, end_seconds: 0.3 },
    { ...C, title: "=HYPERLINK(1)" },
    { ...C, title: "a;=1+1\u001B[2J\u009B31m" },
  ];
  expect(formatCsv(list)).toBe(
    "\uFEFFposition,title,type,start_seconds,end_seconds,length_seconds,asset_id,segment_id\r\n" +
      '1,"a ""b"", c\nd",video,0.1,0.3,0.2,vid_1,a\r\n' +
      "2,'=HYPERLINK(1),image,,,,vid_1,c\r\n" +
      '3,"a;\'=1+1[2J31m",image,,,,vid_1,c\r\n',
  );
});
