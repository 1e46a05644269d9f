import { expect, it } from "vitest";

interface SearchState {
  query: string;
  /** Further steps of a sequence, and most seconds between two. */
  steps: string[];
  within: number;
  all: string[];
  none: string[];
  /** Indices that are searched in place of the open one. */
  indices: string[];
  /** Seconds around a moment in which the conditions may hold. */
  around: number;
  modes: string[];
  boxes: boolean;
  masks: boolean;
  grouped: boolean;
  duplicates: boolean;
  /** Whether words are searched for as written. */
  literal: boolean;
  topP: number;
  filter: Record<string, unknown>;
  example: Record<string, unknown> | null;
  /** Layout of the results; "" for the one that was chosen last. */
  layout: string;
  /** Judgments that refine the search, as text. */
  refined: string;
}

interface Scoped extends SearchState {
  scope: { id: string };
}

/** The functions under test; the console is plain JavaScript without types. */
interface SearchBodies {
  searchBody: (state: SearchState, similarTo?: string, cursor?: string) => Record<string, unknown>;
  fileSearchParams: (state: Partial<Scoped>) => Record<string, unknown>;
}
interface SearchStates {
  readSearch: (params: URLSearchParams) => SearchState;
  writeSearch: (state: Partial<SearchState>) => URLSearchParams;
}

const load = (name: string) =>
  import(new URL(`../../../console/console/search/${name}.js`, import.meta.url).href);
const { fileSearchParams, searchBody } = (await load("search-body")) as SearchBodies;
const { readSearch, writeSearch } = (await load("search-state")) as SearchStates;

const NOTHING: SearchState = {
  query: "",
  steps: [],
  within: 60,
  all: [],
  none: [],
  around: 0,
  indices: [],
  modes: [],
  boxes: false,
  masks: false,
  grouped: false,
  duplicates: false,
  literal: false,
  topP: 0,
  filter: {},
  example: null,
  refined: "",
  layout: "",
};

it.each<[Partial<SearchState>]>([
  [{}],
  [{ query: "a boat & 50 % of #1?" }],
  [{ query: "boat", modes: ["video", "speech"], boxes: true, masks: true, topP: 0.55 }],
  [{ query: "boat", grouped: true, duplicates: true }],
  [{ query: "boat", refined: "seg_1,-seg_2" }],
  [{ query: "boat", filter: { year: { $gte: 2024 }, "a.b": { $in: ["x, y", "東京"] } } }],
  [{ query: "a boat", steps: ["a lighthouse, at night", "東京 & more"], within: 7.5 }],
  [{ example: { kind: "similar", id: "seg_1", name: "" }, steps: ["a boat"] }],
  [{ query: "a beach", all: ["a dog", "a ball"], none: ["people"], around: 5, modes: ["video"] }],
  [{ none: ["people, many"] }],
  [{ query: "boat", indices: ["holidays", "a.b-c_d"] }],
  [{ query: "boat", indices: ["*"] }],
  [{ query: "boat", layout: "rows" }],
  [{ example: { kind: "similar", id: "seg_1", name: "עותק #1.mp4" } }],
  [{ query: "at night", example: { kind: "image", id: "1", name: "a.jpg" } }],
  [{ example: { kind: "range", id: "vid_1", name: "a", start: 3.25, end: 7 } }],
  [{ example: { kind: "range", id: "vid_1", name: "", start: 0, end: 7 } }],
  [{ example: { kind: "clip", id: "2", name: "a.mp4", start: 0, end: null } }],
  [{ example: { kind: "clip", id: "2", name: "a.mp4", start: 4, end: 9 }, topP: 0.1 }],
])("The search %j is the one that is read from its hash", (state) => {
  const text = writeSearch(state).toString();
  expect(readSearch(new URLSearchParams(text))).toEqual({ ...NOTHING, ...state });
});

it("Options without anything to search for leave no trace in the hash", () => {
  expect(writeSearch({ modes: ["video"], boxes: true, topP: 0.5 }).toString()).toBe("");
});

it.each([
  ["modes=video,sound", { modes: ["video"] }],
  ["q=a&then=b&then=+&within=-1", { query: "a", steps: ["b"] }],
  ["q=a&then=b&within=3601", { query: "a", steps: ["b"] }],
  ["q=a&then=b&then=c&then=d&then=e&then=f", { query: "a", steps: ["b", "c", "d", "e"] }],
  ["q=a&then=b&none=c&around=4", { query: "a", steps: ["b"] }],
  ["then=b", {}],
  ["q=a&across=,x,..,x,*b", { query: "a", indices: ["x"] }],
  ["q=a&across=x,*", { query: "a", indices: ["*"] }],
  ["q=a&across=x&in=vid_1", { query: "a" }],
  ["within=5&around=5", {}],
  ["q=a&all=b&around=x", { query: "a", all: ["b"] }],
  ["image=1&then=b&none=c", { example: { kind: "image", id: "1", name: "" } }],
  ["least=2", { topP: 0 }],
  ["least=x", { topP: 0 }],
  ["filter=[1]", { filter: {} }],
  ["filter={", { filter: {} }],
  ["range=vid_1&from=7&to=3", { example: null }],
  ["range=vid_1", { example: null }],
  ["clip=1&from=-1&to=0", { example: { kind: "clip", id: "1", name: "", start: 0, end: null } }],
])("Invalid values in the hash %s count as absent", (text, state) => {
  expect(readSearch(new URLSearchParams(text))).toEqual({ ...NOTHING, ...state });
});

const DEFAULTS = { modes: [], use_boxes: false, use_masks: false, top_k: 24 };

it.each<[Partial<Scoped>, Record<string, unknown>]>([
  [
    { query: "boat", scope: { id: "vid_1" }, grouped: true, duplicates: true },
    { query: "boat", asset_ids: ["vid_1"], group_by: "asset", collapse: false },
  ],
  [{ query: "boat" }, { query: "boat" }],
  [
    { query: "boat", steps: ["lighthouse"], within: 30, refined: "seg_1", filter: { a: 1 } },
    { sequence: ["boat", "lighthouse"], within_seconds: 30, filter: { a: 1 } },
  ],
  [
    { query: "beach", all: ["dog"], none: ["people"], around: 5, refined: "seg_1" },
    { query: "beach", all: ["dog"], none: ["people"], scope_seconds: 5 },
  ],
  [{ none: ["people"] }, { none: ["people"] }],
  [
    { query: "boat", indices: ["a", "b"] },
    { query: "boat", index_names: ["a", "b"] },
  ],
  [
    { query: "boat", indices: ["*"] },
    { query: "boat", index_names: "*" },
  ],
  [
    { query: "boat", refined: "seg_1" },
    { query: "boat", more_like: ["seg_1"] },
  ],
  [
    { query: "boat", modes: ["video"], boxes: true, masks: true },
    { query: "boat", modes: ["video"], use_boxes: true, use_masks: true },
  ],
  [
    { query: "boat", topP: 0.5, filter: { a: 1 } },
    { query: "boat", top_p: 0.5, filter: { a: 1 } },
  ],
])("The search %j is requested as %j", (state, body) => {
  expect(searchBody({ ...NOTHING, ...state })).toEqual({ ...DEFAULTS, ...body });
});

it("A search like a segment names it, and the cursor of a further page", () => {
  const body = { ...DEFAULTS, similar_to: "seg_1", cursor: "c" };
  expect(searchBody(NOTHING, "seg_1", "c")).toEqual(body);
});

it("A sequence that begins with a moment names it as its first step", () => {
  const body = searchBody({ ...NOTHING, steps: ["boat"] }, "seg_1");
  const sequence = [{ similar_to: "seg_1" }, "boat"];
  expect(body).toEqual({ ...DEFAULTS, sequence, within_seconds: 60 });
});

it.each<[Partial<Scoped>, string]>([
  [{}, "top_k=100"],
  [{ modes: ["video", "speech"], topP: 0.5 }, "top_k=100&modes=video&modes=speech"],
  [
    { filter: { a: { $in: [1] } }, scope: { id: "vid_1" }, grouped: true, duplicates: true },
    'top_k=100&filter={"a":{"$in":[1]}}&asset_ids=vid_1&group_by=asset&collapse=false',
  ],
])("The search by a file %j is requested with %s", (state, params) => {
  const sent = fileSearchParams({ ...NOTHING, ...state });
  const entries = Object.entries(sent).flatMap(([name, value]) =>
    [value].flat().map((one) => [name, String(one)]),
  );
  expect(decodeURIComponent(new URLSearchParams(entries).toString())).toBe(params);
});
