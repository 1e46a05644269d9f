import { PRICES, STORAGE_PRICES } from "../config.ts";
import type { Usage } from "./usage.ts";

/** The kinds of cost, and the operations of each. What is stored is a kind of its own. */
const OPERATIONS_BY_KIND = {
  models: ["neurons"],
  frames: ["frames"],
  images: ["images"],
  vectors: ["dimensionsQueried"],
  databases: ["rowsRead", "rowsWritten"],
  files: ["bucketReads", "bucketWrites"],
  requests: ["requests", "queueOperations", "objectRequests"],
} as const satisfies Record<string, readonly (keyof typeof PRICES)[]>;

/** Cost of a day in US dollars, by kind. */
export type Costs = Record<keyof typeof OPERATIONS_BY_KIND | "storage", number>;

const DAYS_PER_MONTH = 30; // of a storage price

/** Estimates the cost of one day's usage, by kind, without what the platform's plan includes. */
export function estimateCosts(usage: Usage): Costs {
  const operations = Object.entries(OPERATIONS_BY_KIND).map(([kind, names]) => {
    return [kind, names.reduce((sum, name) => sum + usage[name] * PRICES[name], 0)];
  });
  const { bucketByte, databaseByte, dimension, segment } = STORAGE_PRICES;
  const perSegment =
    segment.bucketBytes * bucketByte +
    segment.databaseBytes * databaseByte +
    segment.dimensions * dimension;
  const perMonth = usage.storedBytes * bucketByte + usage.storedSegments * perSegment;
  return { ...Object.fromEntries(operations), storage: perMonth / DAYS_PER_MONTH } as Costs;
}
