import { readFile, rename, rm, writeFile } from "node:fs/promises";
import { type CalibrationEntry, isEntryOf } from "../../src/search/fuse.ts";
import { round } from "../suite.ts";

/** Path of the entries from the project's root. The Worker bundles the file. */
export const CALIBRATIONS_FILE = "src/search/calibrations.json";

export async function readCalibrations(path: string): Promise<CalibrationEntry[]> {
  return JSON.parse(await readFile(path, "utf8"));
}

/** Merges entries into the stored ones (`mergeCalibrationEntries`), all of them or none. */
export async function storeCalibrations(
  path: string,
  fitted: readonly CalibrationEntry[],
): Promise<void> {
  const entries = mergeCalibrationEntries(fitted, await readCalibrations(path));
  const temporary = `${path}.${process.pid}.tmp`;
  try {
    await writeFile(temporary, `${JSON.stringify(entries, roundNumbers, 2)}\n`);
    await rename(temporary, path);
  } finally {
    await rm(temporary, { force: true });
  }
}

/** Replaces the entries of the same models, and adds the others behind the stored ones. */
export function mergeCalibrationEntries(
  fitted: readonly CalibrationEntry[],
  stored: readonly CalibrationEntry[],
): CalibrationEntry[] {
  const replaced = stored.map(
    (entry) => fitted.find(({ models }) => isEntryOf(entry, models)) ?? entry,
  );
  const added = fitted.filter(({ models }) => !stored.some((entry) => isEntryOf(entry, models)));
  return [...replaced, ...added];
}

/** Rounds numbers to three digits, more than the data supports. */
function roundNumbers(_: string, value: unknown): unknown {
  return typeof value === "number" ? round(value, 3) : value;
}
