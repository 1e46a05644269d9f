import { expect, it } from "vitest";

type Key = string | number | boolean | null;

interface Search {
  steps: string[];
  all: string[];
  modes: string[];
  filter: Record<string, unknown>;
}

/** The functions under test; the console is plain JavaScript without types. */
interface FacetFilters {
  facetsOf: (hits: { metadata: Record<string, unknown> }[], search: Partial<Search>) => string[];
  isChosen: (search: Search, facet: string, key: Key) => boolean;
  toggleFacet: (search: Search, facet: string, key: Key) => Search | null;
  usableValues: (values: { key: Key; count: number }[]) => { key: Key }[];
}

const file = new URL("../../../console/console/search/facet-filter.js", import.meta.url).href;
const { facetsOf, isChosen, toggleFacet, usableValues } = (await import(file)) as FacetFilters;

const SEARCH: Search = { steps: [], all: [], modes: [], filter: {} };

it.each<[string, Key, Partial<Search>, Partial<Search>]>([
  ["label", "dog", {}, { all: ["dog"] }],
  ["label", "dog", { all: ["cat"] }, { all: ["cat", "dog"] }],
  ["asset_type", "image", { modes: ["speech"] }, { modes: ["speech", "image"] }],
  ["metadata.year", 2024, {}, { filter: { year: { $eq: 2024 } } }],
  ["folder", "2022/Norway", {}, { filter: { folder: { $eq: "2022/Norway" } } }],
  [
    "metadata.year",
    2024,
    { filter: { year: { $eq: 2023 }, a: 1 } },
    { filter: { year: { $in: [2023, 2024] }, a: 1 } },
  ],
  ["metadata.year", 2024, { filter: { year: 2023 } }, { filter: { year: { $in: [2023, 2024] } } }],
  ["metadata.a.b", false, {}, { filter: { "a.b": { $eq: false } } }],
  [
    "metadata.year",
    2024,
    { filter: { year: { $gt: 2000 } } },
    { filter: { year: { $gt: 2000, $eq: 2024 } } },
  ],
  [
    "taken_at.year",
    "2024",
    {},
    { filter: { "technical.taken_at": { $gte: "2024-01-01", $lt: "2025-01-01" } } },
  ],
])("The value %s: %s changes the search %j to %j, and a second click takes it back", (...row) => {
  const [facet, key, before, after] = row;
  const search = { ...SEARCH, ...before };
  expect(isChosen(search, facet, key)).toBe(false);
  const changed = toggleFacet(search, facet, key);
  expect(changed).toEqual({ ...SEARCH, ...after });
  expect(isChosen(changed!, facet, key)).toBe(true);
  const back = toggleFacet(changed!, facet, key)!;
  expect(isChosen(back, facet, key)).toBe(false);
});

it("A value that is taken back leaves a filter without its field", () => {
  const search = { ...SEARCH, filter: { year: { $eq: 2024 }, a: 1 } };
  expect(toggleFacet(search, "metadata.year", 2024)!.filter).toEqual({ a: 1 });
});

it("A sixth label isn't taken", () => {
  const search = { ...SEARCH, all: ["a", "b", "c", "d", "e"] };
  expect(toggleFacet(search, "label", "f")).toBeNull();
});

it("Facets are those of every index and the plain metadata of the hits, at most eight", () => {
  const metadata = { camera: "A", tags: ["x"], place: { city: "Bern" }, empty: "" };
  expect(facetsOf([{ metadata }, { metadata: { year: 2024 } }], { steps: [] })).toEqual([
    "label",
    "asset_type",
    "folder",
    "taken_at.year",
    "metadata.camera",
    "metadata.year",
  ]);
  const many = Object.fromEntries(Array.from({ length: 9 }, (_, i) => [`f${i}`, i]));
  expect(facetsOf([{ metadata: many }], { steps: [] })).toHaveLength(8);
  expect(facetsOf([], { steps: ["a"] })).not.toContain("label");
});

it("Values without a name or too long to be whole can't be chosen", () => {
  const values = [null, "", "a", 0, false, "x".repeat(200)].map((key) => ({ key, count: 1 }));
  expect(usableValues(values).map(({ key }) => key)).toEqual(["a", 0, false]);
});
