import type { Sources } from "./check-layers.ts";

/**
 * Line limits of the folders of `src/`; `*` are the files beside them. They may fall. A commit
 * that raises one says why.
 */
const LINE_LIMITS: Readonly<Record<string, number>> = {
  "*": 3130,
  answer: 1900,
  durable: 2090,
  exports: 650,
  fetching: 600,
  http: 2370,
  ingest: 5400,
  lifecycle: 1960,
  media: 6440,
  metering: 350,
  models: 1220,
  platforms: 1830,
  queues: 570,
  routes: 6390,
  search: 4840,
  store: 5840,
  text: 1650,
};
/** With more lines than this below its limit, a folder needs a lower one. */
const SLACK = 100;

/** Returns a sentence for each folder of `src/` that outgrew its limit, or is far below it. */
export function findLineExcess(sources: Sources, limits = LINE_LIMITS): string[] {
  const counts = new Map(Object.keys(limits).map((folder) => [folder, 0]));
  for (const [file, text] of sources) {
    const [, folder = "*"] = /^src\/(\w+)\//.exec(file) ?? [];
    counts.set(folder, (counts.get(folder) ?? 0) + text.split("\n").length - 1);
  }
  return [...counts].flatMap(([folder, count]) => {
    const limit = limits[folder] ?? 0;
    const where = `src/${folder} has ${count} lines, and may have ${limit}`;
    if (count > limit) return [`${where}: remove some, or say in the commit why it may have more`];
    return count < limit - SLACK ? [`${where}: lower that, in scripts/check-lines.ts`] : [];
  });
}
