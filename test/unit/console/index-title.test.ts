import { expect, it } from "vitest";

type JsonObject = Record<string, unknown>;
interface Index {
  index_name: string;
  description: string;
  metadata?: JsonObject;
}
interface IndexTitles {
  indexTitle: (index: Index) => string;
  descriptionOf: (index: Index) => string;
  metadataOf: (index: Index) => JsonObject;
  withTitle: (metadata: JsonObject, title: string, name: string) => JsonObject;
}

const file = new URL("../../../console/console/library/index-title.js", import.meta.url).href;
const { indexTitle, descriptionOf, metadataOf, withTitle } = (await import(file)) as IndexTitles;

it.each([
  ["Familienarchiv-Koeln-2022", "Familienarchiv Köln 2022", "Familienarchiv Köln 2022"],
  ["Familienarchiv-Koeln-2022-2", "Familienarchiv Köln 2022", "Familienarchiv Köln 2022"],
  ["holidays", "Films of our holidays", "holidays"],
  ["Holidays-2022", "Holidays", "Holidays-2022"],
  ["holidays", "", "holidays"],
  ["index", "", "index"],
  ["a".repeat(60) + "-2", "a".repeat(64) + "!", "a".repeat(64) + "!"],
])("The index %s with the description %j has the title %j", (index_name, description, title) => {
  expect(indexTitle({ index_name, description })).toBe(title);
});

it.each([
  [{ title: "Köln" }, "Films of 2022", "Köln", "Films of 2022"],
  [{ title: "Köln" }, "Köln", "Köln", "Köln"],
  [{ title: 7 }, "Films of 2022", "Koeln", "Films of 2022"],
  [{}, "Köln", "Köln", ""],
])(
  "The metadata %j and the description %j are the title %j and the description %j",
  (metadata, description, title, shown) => {
    const index = { index_name: "Koeln", description, metadata };
    expect([indexTitle(index), descriptionOf(index)]).toEqual([title, shown]);
  },
);

it("A title is stored in the metadata beside the rest, unless it is the API's name", () => {
  expect(withTitle({ year: 2022 }, " Köln ", "Koeln")).toEqual({ year: 2022, title: "Köln" });
  expect(withTitle({ year: 2022 }, "Koeln", "Koeln")).toEqual({ year: 2022 });
  const index = { index_name: "Koeln", description: "", metadata: { year: 2022, title: "Köln" } };
  expect(metadataOf(index)).toEqual({ year: 2022 });
});
