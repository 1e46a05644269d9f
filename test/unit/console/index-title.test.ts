import { expect, it } from "vitest";

type IndexTitle = (index: { index_name: string; description: string }) => string;

const file = new URL("../../../console/console/library/index-title.js", import.meta.url).href;
const { indexTitle } = (await import(file)) as { indexTitle: IndexTitle };

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
