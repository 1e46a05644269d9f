import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Ingested } from "../../tools/ingest-files.ts";
import { PROJECT } from "../../tools/stack/local-state.ts";
import { sanitizeLine, wrapText } from "../../tools/terminal.ts";

/** Names that are listed for one error or warning. */
const MAX_NAMES = 10;
/** Stands for the code of a failure without one. */
const UNKNOWN = "unknown";

export interface IngestCounts {
  ready: number;
  /** Files with the bytes of another file of this run. */
  duplicates: number;
  /** Files that the index had before. */
  stored: number;
  failed: number;
}

/** Counts the outcomes. Each file counts once. */
export function countOutcomes(outcomes: readonly Ingested[]): IngestCounts {
  const counts: IngestCounts = { ready: 0, duplicates: 0, stored: 0, failed: 0 };
  const ready = outcomes.filter(({ state }) => state === "ready");
  const sent = new Set(ready.filter((one) => !one.isDuplicate).map(({ assetId }) => assetId));
  const counted = new Set<string | null>();
  for (const { assetId, isDuplicate } of ready) {
    if (!isDuplicate) counts.ready += 1;
    else if (sent.has(assetId) || counted.has(assetId)) counts.duplicates += 1;
    else counts.stored += 1;
    counted.add(assetId);
  }
  counts.failed = outcomes.length - ready.length;
  return counts;
}

/** Formats counts, then warnings and failed files by code and sentence, with remedies. */
export function formatSummary(
  outcomes: readonly Ingested[],
  elapsedSeconds: number,
  remedies: ReadonlyMap<string, string>,
): string {
  const { ready, duplicates, stored, failed } = countOutcomes(outcomes);
  const added = outcomes.filter(({ isDuplicate }) => !isDuplicate);
  const videoSeconds = added.reduce((sum, { seconds }) => sum + seconds, 0);
  const video = videoSeconds > 0 ? `, with ${videoSeconds.toFixed(0)} s of video` : "";
  const lines = [`${ready} ready in ${elapsedSeconds.toFixed(1)} s${video}.`];
  if (stored > 0) lines.push(`${stored} ${stored === 1 ? "was" : "were"} in the index already.`);
  if (duplicates > 0) {
    const files = duplicates === 1 ? "file is a duplicate" : "files are duplicates";
    lines.push(`${duplicates} ${files} of another one.`);
  }
  const renamed = outcomes.flatMap(({ name, isDuplicate, title = name }) =>
    isDuplicate && title !== name.split("/").pop() ? [{ name: `${name}: as ${title}` }] : [],
  );
  if (renamed.length > 0) {
    lines.push(
      "In the index under another name, by which they are found:",
      ...formatNames(renamed),
    );
  }
  const warnings = outcomes.flatMap(({ name, warnings: ofFile }) =>
    ofFile.map(({ code, message }) => ({ name, problem: `${sanitizeLine(message)} (${code})` })),
  );
  for (const [problem, group] of Map.groupBy(warnings, (warning) => warning.problem)) {
    const files = group.length === 1 ? "1 file" : `${group.length} files`;
    lines.push(`Warning for ${files}: ${problem}`, ...formatNames(group));
  }
  if (failed > 0) {
    lines.push(`${failed} failed:`);
    const failures = outcomes.filter(({ state }) => state === "failed");
    lines.push(...formatFailures(failures, remedies), "docs/formats.md says more.");
  }
  return lines.map((line) => wrapText(line, "    ")).join("\n");
}

/** Formats failed files by code and sentence, and after the last of a code what to do. */
function formatFailures(
  failures: readonly Ingested[],
  remedies: ReadonlyMap<string, string>,
): string[] {
  const lines: string[] = [];
  for (const [code, ofCode] of Map.groupBy(failures, ({ code }) => code ?? UNKNOWN)) {
    for (const [problem, files] of Map.groupBy(ofCode, formatProblem)) {
      lines.push(`  ${problem}`);
      lines.push(...formatNames(files));
    }
    const remedy = remedies.get(code);
    if (remedy !== undefined) lines.push(`    What to do: ${remedy}`);
  }
  return lines;
}

/** Lists the names of the first files, and how many more there are. */
function formatNames(files: readonly { name: string }[]): string[] {
  const names = files.slice(0, MAX_NAMES).map(({ name }) => `    ${sanitizeLine(name)}`);
  return files.length > MAX_NAMES ? [...names, `    and ${files.length - MAX_NAMES} more`] : names;
}

/** Formats the first sentence of an error or a warning, and its code. */
function formatProblem({ code, message }: { code?: string; message?: string }): string {
  return `${firstSentence(message ?? "")} (${code ?? UNKNOWN})`;
}

const SEGMENTER = new Intl.Segmenter("en", { granularity: "sentence" });

function firstSentence(message: string): string {
  const [first] = SEGMENTER.segment(sanitizeLine(message));
  return first?.segment.trim() ?? "";
}

/** Reads what to do about each error code from docs/formats.md. */
export async function readRemedies(): Promise<Map<string, string>> {
  return parseRemedies(await readFile(join(PROJECT, "docs/formats.md"), "utf8"));
}

/** Reads the tables of a page: code, cause, remedy. A dash is no remedy. */
export function parseRemedies(page: string): Map<string, string> {
  const rows = page.matchAll(/^\| `(\w+)` \| [^|]* \| ([^|]+) \|$/gm);
  const entries = [...rows].map(([, code, remedy]): [string, string] => {
    // bounded: a line of our own output
    return [code!, remedy!.replaceAll(/\[([^\]]*)\]\(([^)]*)\)/g, "$1 (docs/$2)").trim()];
  });
  return new Map(entries.filter(([, remedy]) => remedy !== "–"));
}
