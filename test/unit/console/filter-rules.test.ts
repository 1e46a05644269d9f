import { expect, it } from "vitest";
import { readFilter } from "../../../src/routes/records/search-request.ts";

interface Rule {
  field: string;
  operator: string;
  value: string;
}

/** The functions under test; the console is plain JavaScript without types. */
interface FilterRules {
  buildFilter: (rules: Rule[]) => Record<string, unknown>;
  listRules: (filter: Record<string, unknown>) => Rule[];
}

const file = new URL("../../../console/console/search/filter-rules.js", import.meta.url).href;
const { buildFilter, listRules } = (await import(file)) as FilterRules;

const rule = (field: string, operator: string, value: string) => ({ field, operator, value });

it.each<[Rule[], Record<string, unknown>]>([
  [[], {}],
  [[rule("", "$eq", " ")], {}],
  [[rule(" year ", "$gte", "2024")], { year: { $gte: 2024 } }],
  [
    [rule("year", "$gte", "2024"), rule("year", "$lt", "2026")],
    { year: { $gte: 2024, $lt: 2026 } },
  ],
  [[rule("camera", "$eq", "A")], { camera: { $eq: "A" } }],
  [[rule("tape", "$eq", '"007"')], { tape: { $eq: "007" } }],
  [[rule("tape", "$eq", "007")], { tape: { $eq: "007" } }],
  [[rule("tape", "$eq", '"12"')], { tape: { $eq: "12" } }],
  [[rule("done", "$ne", "true")], { done: { $ne: true } }],
  [[rule("note", "$eq", "null")], { note: { $eq: null } }],
  [
    [rule("place.city", "$in", 'Bern, Genève,"a, b"')],
    { "place.city": { $in: ["Bern", "Genève", "a, b"] } },
  ],
  [[rule("a..b.", "$eq", "A")], { "a..b.": { $eq: "A" } }],
  [[rule("created_at", "$gte", "2026-01-31")], { created_at: { $gte: "2026-01-31" } }],
  [[rule("duration_seconds", "$lt", "60.5")], { duration_seconds: { $lt: 60.5 } }],
])("The rules %j build the filter %j, which the service accepts", (rules, filter) => {
  expect(buildFilter(rules)).toEqual(filter);
  const problems: string[] = [];
  readFilter(filter, (_, __, message) => problems.push(message));
  expect(problems).toEqual([]);
});

it.each([
  [[rule("", "$eq", "A")], /Name the field/],
  [[rule("year", "$eq", " ")], /value for “year”/],
  [[rule("year", "$in", " , ")], /value for “year”/],
  [[rule("year", "$eq", "1"), rule("year", "$eq", "2")], /“year is” can be used once/],
  [[rule("created_at", "$gte", "yesterday")], /needs a day/],
  [[rule("duration_seconds", "$gte", "long")], /number of seconds/],
])("The rules %j are refused with a sentence", (rules, message) => {
  expect(() => buildFilter(rules)).toThrow(message);
});

it.each<[Record<string, unknown>]>([
  [{ year: { $gte: 2024, $lt: 2026 }, camera: { $eq: "A" } }],
  [{ tape: { $eq: "12" }, done: { $ne: false }, note: { $eq: null } }],
  [{ city: { $in: ["Bern", 'the "old" town, by night', 7] } }],
  [{ title: { $eq: " spaced " } }],
])("The filter %j is the one that its rules build", (filter) => {
  expect(buildFilter(listRules(filter))).toEqual(filter);
});

it("A value without an operator is shown as an equality", () => {
  expect(listRules({ camera: "A" })).toEqual([rule("camera", "$eq", "A")]);
});
