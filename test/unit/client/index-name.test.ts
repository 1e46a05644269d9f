import { toIndexName } from "sightline";
import { expect, it } from "vitest";

it.each([
  ["holidays", "holidays"],
  ["Familienarchiv 2022", "Familienarchiv-2022"],
  ["Familienarchiv Köln 2022", "Familienarchiv-Koeln-2022"],
  ["Ärger & Größe", "Aerger-Groesse"],
  ["U\u0308bung, cre\u0300me", "Uebung-creme"],
  ["Urlaub - Süd--Tirol", "Urlaub-Sued-Tirol"],
  ["a-b", "a-b"],
  ["  ..trip/to: Ελλάδα  ", "trip-to"],
  ["家族の記録", "index"],
  ["a".repeat(80), "a".repeat(64)],
])("The name of an index that is made of %j is %j", (text, name) => {
  expect(toIndexName(text)).toBe(name);
});
