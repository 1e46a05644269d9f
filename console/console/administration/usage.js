import { bytes, clock } from "../shared/wording.js";

const DAY_MS = 24 * 3600 * 1000;
const DAYS = 30;

/** Returns the usage of each of the last 30 days, in order; days without a record are zero. */
export function fillDays({ today, last_30_days: records }) {
  const byDate = new Map([...records, today].map((record) => [record.date, record]));
  const end = Date.parse(today.date);
  return Array.from({ length: DAYS }, (_, i) => {
    const date = new Date(end - (DAYS - 1 - i) * DAY_MS).toISOString().slice(0, 10);
    return byDate.get(date) ?? { date };
  });
}

export function sum(numbers) {
  return numbers.reduce((total, number) => total + number, 0);
}

/** Names of the kinds of cost. */
const COSTS = {
  models: "Models",
  frames: "Frames of videos",
  images: "Images",
  conversion: "Conversion of videos",
  vectors: "Vectors",
  databases: "Databases",
  files: "Access to files",
  requests: "Requests",
  storage: "Storage",
};

/** Returns the cost of each kind over days, the greatest first. */
export function costsByKind(days) {
  return Object.entries(COSTS)
    .map(([kind, name]) => ({ name, value: sum(days.map((day) => day.costs_usd?.[kind] ?? 0)) }))
    .sort((a, b) => b.value - a.value);
}

/** Formats an amount with enough digits that a small one isn't zero: 0.00042 → "$0.00042". */
export function dollars(amount) {
  if (amount === 0) return "$0";
  if (amount >= 0.995) return `$${number(amount, 2)}`;
  return `$${Number(amount.toPrecision(2)).toFixed(Math.min(8, 1 - Math.floor(Math.log10(amount))))}`;
}

export function number(value, digits = 0) {
  return value.toLocaleString("en", { maximumFractionDigits: digits });
}

/** Limits of an account: the name, the format, and the part of it that is used, if it is known. */
const LIMITS = {
  stored_bytes: ["Stored files", bytes, (stats) => stats.size_bytes],
  searches_per_day: ["Searches today", number, ({ usage }) => usage.today.searches],
  answers_per_day: ["Answers today", number, ({ usage }) => usage.today.answers],
  cost_usd_per_day: ["Cost today", dollars, dailyCost],
  ingest_minutes_per_day: [
    "Minutes of video added today",
    (minutes) => number(minutes, 1),
    ({ usage }) => usage.today.ingested_seconds / 60,
  ],
  ingest_images_per_day: ["Images added today", number, ({ usage }) => usage.today.ingested_images],
  concurrent_ingests: [
    "Videos and images in progress",
    number,
    ({ states }) => states.queued + states.processing,
  ],
  indices: ["Indices", number, (stats) => stats.indices],
  record_bytes: ["Records", bytes, (stats) => stats.record_bytes],
  keys: ["Valid API keys", number],
  open_uploads: ["Unfinished uploads", number],
  requests_per_minute: ["Requests a minute, for each key", number],
  account_requests_per_minute: ["Requests a minute, for all keys", number],
  upload_bytes: ["Size of a video", bytes],
  image_bytes: ["Size of an image", bytes],
  video_seconds: ["Length of a video", clock],
};

/** The limit on a day's cost leaves out what is stored. */
function dailyCost({ usage: { today } }) {
  return today.estimated_cost_usd - today.costs_usd.storage;
}

/**
 * Returns the limits of an account: the name, the limit and its use in words, and the used share from
 * 0 to 1; `used` and `share` are null if the use isn't known.
 */
export function limitRows(stats) {
  return Object.entries(LIMITS)
    .filter(([key]) => key in stats.limits)
    .map(([key, [name, format, useOf]]) => {
      const limit = stats.limits[key];
      const used = useOf ? useOf(stats) : null;
      return {
        name,
        limit: format(limit),
        used: used === null ? null : format(used),
        share: used === null ? null : Math.min(1, used / Math.max(limit, Number.MIN_VALUE)),
      };
    });
}
