import { expect, it } from "vitest";

interface Day {
  date: string;
  searches?: number;
  costs_usd?: Record<string, number>;
}
interface LimitRow {
  name: string;
  limit: string;
  used: string | null;
  share: number | null;
}

/** The functions under test; the console is plain JavaScript without types. */
interface Usage {
  fillDays: (usage: { today: Day; last_30_days: Day[] }) => Day[];
  costsByKind: (days: Day[]) => { name: string; value: number }[];
  dollars: (amount: number) => string;
  limitRows: (stats: object) => LimitRow[];
}
interface Chart {
  barHeight: (value: number, most: number) => number;
}

const load = (name: string) =>
  import(new URL(`../../../console/console/${name}.js`, import.meta.url).href);
const { fillDays, costsByKind, dollars, limitRows } = (await load("administration/usage")) as Usage;
const { barHeight } = (await load("administration/chart")) as Chart;

it("Usage has 30 days up to today, across months, and days without a record are empty", () => {
  const recorded = { date: "2026-02-28", searches: 7 };
  const days = fillDays({
    today: { date: "2026-03-02", searches: 3 },
    last_30_days: [recorded, { date: "2026-03-02", searches: 3 }],
  });
  expect(days).toHaveLength(30);
  expect(days[0]).toEqual({ date: "2026-02-01" });
  expect(days.slice(-3)).toEqual([
    recorded,
    { date: "2026-03-01" },
    { date: "2026-03-02", searches: 3 },
  ]);
});

it("Costs of all days are added up by kind, the greatest first", () => {
  const days = [
    { date: "2026-03-01", costs_usd: { models: 1, vectors: 2 } },
    { date: "2026-03-02", costs_usd: { models: 3, storage: 1 } },
    { date: "2026-03-03" },
  ];
  expect(costsByKind(days).slice(0, 3)).toEqual([
    { name: "Models", value: 4 },
    { name: "Vectors", value: 2 },
    { name: "Storage", value: 1 },
  ]);
});

it.each([
  [0, "$0"],
  [0.00042, "$0.00042"],
  [0.0134, "$0.013"],
  [0.5, "$0.50"],
  [0.999, "$1"],
  [12.345, "$12.35"],
  [1234, "$1,234"],
])("An amount of %d dollars is shown as %s", (amount, text) => {
  expect(dollars(amount)).toBe(text);
});

it("A limit has its used share, at most all of it; one of unknown use has none", () => {
  const stats = {
    size_bytes: 3e9,
    states: { queued: 1, processing: 2 },
    usage: {
      today: {
        searches: 250,
        estimated_cost_usd: 0.75,
        costs_usd: { storage: 0.25 },
        ingested_seconds: 90,
      },
    },
    limits: { stored_bytes: 2e9, searches_per_day: 1000, cost_usd_per_day: 1, keys: 100, other: 5 },
  };
  expect(limitRows(stats)).toEqual([
    { name: "Stored files", limit: "2.0 GB", used: "3.0 GB", share: 1 },
    { name: "Searches today", limit: "1,000", used: "250", share: 0.25 },
    { name: "Cost today", limit: "$1", used: "$0.50", share: 0.5 },
    { name: "Valid API keys", limit: "100", used: null, share: null },
  ]);
});

it("A bar of a chart has no height for zero, and is visible for every other value", () => {
  expect(barHeight(0, 0)).toBe(0);
  expect(barHeight(0, 10)).toBe(0);
  expect(barHeight(1, 1e6)).toBe(1);
  expect(barHeight(10, 10)).toBeGreaterThan(barHeight(5, 10));
});
