import { expect, it } from "vitest";

interface Segment {
  id?: string;
  start: number;
  end: number;
}
interface Hit {
  asset_id: string;
  start_seconds: number | null;
}

/** The functions under test; the console is plain JavaScript without types. */
interface Positions {
  positionAt: (segments: Segment[], seconds: number) => number;
  positionOfShare: (segments: Segment[], share: number) => number;
  neighboursOf: (segments: Segment[], position: number, count: number) => Segment[];
}
interface Viewed {
  MAX_VIEWED: number;
  parseViewed: (text: string | null) => string[];
  addViewed: (ids: string[], id: string) => string[];
}
interface Groups {
  groupByAsset: (entries: { hit: Hit }[]) => { hit: Hit }[][];
}
interface Layouts {
  nextLayout: (name: string) => string;
  readLayout: (params: URLSearchParams) => string;
}

const load = (name: string) =>
  import(new URL(`../../../console/console/search/${name}.js`, import.meta.url).href);
const { neighboursOf, positionAt, positionOfShare } = (await load("segment-position")) as Positions;
const { addViewed, MAX_VIEWED, parseViewed } = (await load("viewed-ids")) as Viewed;
const { groupByAsset } = (await load("asset-groups")) as Groups;
const { nextLayout, readLayout } = (await load("layouts")) as Layouts;

const SEGMENTS = [0, 4, 6, 16].map((start, i, all) => ({ start, end: all[i + 1] ?? 20 }));

it.each([
  [-1, 0],
  [0, 0],
  [3.9, 0],
  [4, 1],
  [15, 2],
  [100, 3],
])("At %d seconds is the segment %d", (seconds, position) => {
  expect(positionAt(SEGMENTS, seconds)).toBe(position);
});

it.each([
  [0, 0],
  [0.19, 0],
  [0.2, 1],
  [0.5, 2],
  [0.8, 3],
  [1, 3],
])("At the share %d of the time is the segment %d", (share, position) => {
  expect(positionOfShare(SEGMENTS, share)).toBe(position);
});

it("Neighbours of a segment end at the ends of its video", () => {
  const startsOf = (position: number) =>
    neighboursOf(SEGMENTS, position, 2).map(({ start }) => start);
  expect(startsOf(0)).toEqual([0, 4, 6]);
  expect(startsOf(1)).toEqual([0, 4, 6, 16]);
  expect(startsOf(3)).toEqual([4, 6, 16]);
});

it.each([null, "", "{", "{}", "1", "[1,null]"])("The stored marks %s count as none", (text) => {
  expect(parseViewed(text)).toEqual([]);
});

it("A moment that is opened again is the last one, and the oldest beyond the limit is dropped", () => {
  expect(addViewed(["a", "b"], "a")).toEqual(["b", "a"]);
  const full = Array.from({ length: MAX_VIEWED }, (_, i) => `seg_${i}`);
  const added = addViewed(full, "seg_new");
  expect(added).toHaveLength(MAX_VIEWED);
  expect([added[0], added.at(-1)]).toEqual(["seg_1", "seg_new"]);
  expect(parseViewed(JSON.stringify([...full, "seg_new"]))).toEqual(added);
});

it("Rows are in the order of their best hits, and hits of a row in the order of time", () => {
  const hits = [
    ["b", 9],
    ["a", 1],
    ["b", 2],
    ["c", null],
    ["a", 0],
  ] as const;
  const entries = hits.map(([asset_id, start_seconds]) => ({ hit: { asset_id, start_seconds } }));
  const rows = groupByAsset(entries).map((group) =>
    group.map(({ hit }) => [hit.asset_id, hit.start_seconds]),
  );
  expect(rows).toEqual([
    [
      ["b", 2],
      ["b", 9],
    ],
    [
      ["a", 0],
      ["a", 1],
    ],
    [["c", null]],
  ]);
});

it("The key goes through all layouts, and an unknown one in the hash counts as none", () => {
  expect(["cards", "dense", "rows"].map(nextLayout)).toEqual(["dense", "rows", "cards"]);
  const read = (text: string) => readLayout(new URLSearchParams(text));
  expect(["layout=rows", "layout=toString", ""].map(read)).toEqual(["rows", "", ""]);
});
