import { expect, it } from "vitest";
import { forecastDate } from "../../../src/lifecycle/deployment-health.ts";

const days = (...used: number[]) =>
  used.map((value, i) => ({ date: `2026-03-${String(i + 1).padStart(2, "0")}`, used: value }));

it.each<[string, { date: string; used: number }[], number, string | null]>([
  ["no days", [], 10, null],
  ["one day", days(5), 10, null],
  ["steady growth", days(10, 20, 30), 100, "2026-03-10"],
  ["growth with noise", days(10, 22, 28, 40), 100, "2026-03-11"],
  [
    "growth with a missing day",
    [
      { date: "2026-03-01", used: 10 },
      { date: "2026-03-03", used: 30 },
    ],
    60,
    "2026-03-06",
  ],
  ["growth across the end of a year", [...days(10, 20)], 3000, "2026-12-25"],
  ["no growth", days(10, 10), 100, null],
  ["shrinking", days(30, 20, 10), 100, null],
  ["a limit that is reached", days(90, 100), 100, "2026-03-02"],
  ["a limit that is reached, and shrinking", days(120, 110), 100, "2026-03-02"],
  ["growth that takes over a century", days(0, 1), 1e9, null],
])("a resource with %s is forecast to be full on the right day", (_, history, limit, expected) => {
  expect(forecastDate(history, limit)).toBe(expected);
});
