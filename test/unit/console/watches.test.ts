import { expect, it } from "vitest";

interface Threshold {
  min_probability: number;
  matches: number;
  expected_precision?: number | null;
}
interface Day {
  date: string;
  matches: number;
}
interface Example {
  kind: string;
  id: string;
  name: string;
}
interface Search {
  query: string;
  modes: string[];
  filter: Record<string, unknown>;
  example: Example | null;
}

/** The functions under test; the console is plain JavaScript without types. */
interface WatchWording {
  chartDays: (days: Day[]) => Day[];
  defaultName: (query: string, example: Example | null) => string;
  findThreshold: (result: object, percent: number) => Threshold | null;
  precisionText: (threshold: Threshold) => string;
  requestFields: (search: Search) => object;
  restrictionsOf: (watch: object) => string[];
  subjectOf: (watch: object) => string;
  thresholdText: (percent: number) => string;
}
interface Routes {
  readRoute: (hash: string) => Record<string, unknown>;
  routeHash: (route: Record<string, unknown>) => string;
}

const load = (name: string) =>
  import(new URL(`../../../console/console/${name}.js`, import.meta.url).href);
const {
  chartDays,
  defaultName,
  findThreshold,
  precisionText,
  requestFields,
  restrictionsOf,
  subjectOf,
  thresholdText,
} = (await load("watches/watch-wording")) as WatchWording;
const { readRoute, routeHash } = (await load("shared/route")) as Routes;

it.each([
  ["#/holidays/watches", ""],
  ["#/holidays/watches/wat_1", "wat_1"],
  ["#/holidays/watches/new", "new"],
])("The hash %s leads to the watch “%s”, and is the hash of its route", (hash, watch) => {
  const route = readRoute(hash);
  expect(route).toMatchObject({ index: "holidays", page: "watches", watch });
  expect(routeHash({ index: "holidays", page: "watches", watch })).toBe(hash);
});

it("The hash of the form for a watch has the search that it is filled in with", () => {
  const example = { kind: "similar", id: "seg_1", name: "a & b" };
  const search = { query: "boat", modes: ["speech"], filter: { year: 1870 }, topP: 0.8, example };
  const hash = routeHash({ index: "stats", page: "watches", watch: "new", ...search });
  expect(readRoute(hash)).toMatchObject({ index: "stats", watch: "new", ...search });
});

it("The hash of a library names no watch", () => {
  expect(readRoute("#/holidays/health/wat_1")).toMatchObject({ page: "health", watch: "" });
});

const SEARCH: Search = { query: "", modes: [], filter: {}, example: null };
const SIMILAR = { kind: "similar", id: "seg_1", name: "a.mp4" };

it.each<[Partial<Search>, object]>([
  [{ query: " boat " }, { query: "boat" }],
  [
    { query: "boat", modes: ["video", "speech"], filter: { year: 1870 } },
    { query: "boat", modes: ["speech"], asset_types: ["video"], filter: { year: 1870 } },
  ],
  [{ example: SIMILAR }, { similar_to: "seg_1" }],
  [{ query: "boat", example: { ...SIMILAR, kind: "image" } }, { query: "boat" }],
])("The search %j is watched for by %j", (search, fields) => {
  expect(requestFields({ ...SEARCH, ...search })).toEqual(fields);
});

it.each<[object, string]>([
  [{ query: "boat", similar_to: null, has_image: false }, "“boat”"],
  [{ query: null, similar_to: "seg_1", has_image: false }, "like a moment of this index"],
  [{ query: "boat", similar_to: "vid_1" }, "“boat”, like a video of this index"],
  [{ query: null, similar_to: null, has_image: true }, "like an image"],
])("The watch %j looks for %s", (watch, text) => {
  expect(subjectOf(watch)).toBe(text);
});

it("What a watch is restricted to is listed in words", () => {
  expect(restrictionsOf({})).toEqual([]);
  const filter = { year: { $gte: 1868 }, place: "Alps" };
  const watch = { modes: ["speech", "text"], asset_types: ["audio", "video"], filter };
  expect(restrictionsOf(watch)).toEqual([
    "only videos, sound",
    "only by speech, on-screen text",
    "year is at least 1868",
    "place is Alps",
  ]);
  expect(restrictionsOf({ modes: ["image"] })).toEqual(["only images"]);
});

it.each([
  [90, "90 %: at least 9 in 10 matches should be right"],
  [95, "95 %: at least 95 in 100 matches should be right"],
])("The lowest probability %i is explained as “%s”", (percent, text) => {
  expect(thresholdText(percent)).toBe(text);
});

it.each<[string, Example | null, string]>([
  [" boat ", SIMILAR, "boat"],
  ["", SIMILAR, "Like a.mp4"],
  ["", { ...SIMILAR, name: "" }, "Like an example"],
  ["", null, ""],
  ["👩‍🚀".repeat(100), null, "👩‍🚀".repeat(33) + "👩"],
])("A watch for “%s” like %j is named “%s”", (query, example, name) => {
  expect(defaultName(query, example)).toBe(name);
});

const THRESHOLDS: Threshold[] = [
  { min_probability: 0.57, matches: 40, expected_precision: 0.7 },
  { min_probability: 0.9, matches: 3, expected_precision: 0.95 },
];

it("A preview answers for the thresholds of its table and the one it was made for, no others", () => {
  const result = { thresholds: THRESHOLDS, min_probability: 0.83, matches: 9 };
  expect(findThreshold(result, 57)).toBe(THRESHOLDS[0]);
  expect(findThreshold(result, 83)).toEqual({ min_probability: 0.83, matches: 9 });
  expect(findThreshold(result, 84)).toBeNull();
});

it("The share that should be right is told, unless there are too few matches or none", () => {
  expect(precisionText(THRESHOLDS[0]!)).toBe("70 %");
  expect(precisionText(THRESHOLDS[1]!)).toBe("too few to say");
  const none = { matches: 0, expected_precision: null };
  expect(precisionText({ min_probability: 0.95, ...none })).toBe("–");
});

it("A chart has the days between matches, two weeks at least and the last 60 at most", () => {
  const one = chartDays([{ date: "2026-03-02", matches: 4 }]);
  expect(one).toHaveLength(14);
  expect(one[0]).toEqual({ date: "2026-02-17", matches: 0 });
  expect(one.at(-1)).toEqual({ date: "2026-03-02", matches: 4 });
  const long = chartDays([
    { date: "2020-01-01", matches: 1 },
    { date: "2026-03-01", matches: 2 },
    { date: "2026-03-02", matches: 4 },
  ]);
  expect(long).toHaveLength(60);
  expect(long.at(-2)).toEqual({ date: "2026-03-01", matches: 2 });
});
