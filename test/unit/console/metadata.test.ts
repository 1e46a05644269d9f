import { assert, dictionary, jsonValue, property, string } from "fast-check";
import { expect, it } from "vitest";

interface Row {
  name: string;
  value: string;
}

/** The functions under test; the console is plain JavaScript without types. */
interface Metadata {
  metadataRows: (metadata: Record<string, unknown>) => Row[];
  readRows: (rows: Row[]) => Record<string, unknown>;
  readJsonObject: (text: string) => Record<string, unknown>;
}

const file = new URL("../../../console/console/shared/metadata.js", import.meta.url).href;
const { metadataRows, readRows, readJsonObject } = (await import(file)) as Metadata;

it.each([
  ["boat", "boat"],
  [2024, "2024"],
  ["2024", '"2024"'],
  [true, "true"],
  [null, "null"],
  ["", ""],
  [" a ", '" a "'],
  [{ a: [1] }, '{"a":[1]}'],
])("The metadata value %j is edited as %s", (value, text) => {
  expect(metadataRows({ name: value })).toEqual([{ name: "name", value: text }]);
});

it("Metadata that is shown as rows and read again is unchanged", () => {
  const name = string().filter((text) => text !== "" && text === text.trim());
  assert(
    property(dictionary(name, jsonValue()), (metadata) => {
      const stored: unknown = JSON.parse(JSON.stringify(metadata));
      expect(readRows(metadataRows(metadata))).toEqual(stored);
    }),
  );
});

it("Empty rows are left out, and blanks around names and values are ignored", () => {
  const rows = [
    { name: " year ", value: " 2026 " },
    { name: "", value: "" },
  ];
  expect(readRows(rows)).toEqual({ year: 2026 });
});

it("A row without a name and a repeated name are refused with a sentence", () => {
  expect(() => readRows([{ name: "", value: "boat" }])).toThrow("The value “boat” has no name.");
  const twice = [
    { name: "a", value: "1" },
    { name: "a", value: "2" },
  ];
  expect(() => readRows(twice)).toThrow("The name “a” is there twice.");
});

it.each([
  ["", {}],
  ['{"a": 1}', { a: 1 }],
])("The JSON text “%s” is read as metadata", (text, metadata) => {
  expect(readJsonObject(text)).toEqual(metadata);
});

it.each(["[1]", "null", "2"])("The JSON text %s is refused: it isn't an object", (text) => {
  expect(() => readJsonObject(text)).toThrow("Metadata is a JSON object");
});

it("Text that isn't JSON is refused with the parser's reason", () => {
  expect(() => readJsonObject("{")).toThrow(/^This isn't JSON: ./);
});
