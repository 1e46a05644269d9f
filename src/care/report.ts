import { CARE } from "../config.ts";
import { traceOf, type Failure, failureOf } from "../errors.ts";
import type { AssetId } from "../ids.ts";
import { log } from "../log.ts";
import type { Finding, FindingCode, IndexFindingCode } from "./findings.ts";
import { Paused } from "./work.ts";

type Code = FindingCode | IndexFindingCode;
type Counts = Partial<Record<Code, number>>;

/** What a traversal has done so far: a job's result. */
export interface Report {
  /** Looked at. */
  assets: number;
  /** How often each was found, and how often made good. */
  findings: Counts;
  repaired: Counts;
  /** What couldn't be made good, or not wholly: the first `CARE.left`. `asset_id` is null of the index. */
  left: { asset_id: string | null; code: Code; message: string }[];
}

export function newReport(): Report {
  return { assets: 0, findings: {}, repaired: {}, left: [] };
}

/**
 * Does `work`, which makes findings good, and notes what came of it. What it resolves to is lost all the
 * same. Throws `Paused` only; then nothing is noted.
 */
export async function repairing(
  report: Report,
  assetId: AssetId | null,
  findings: Finding<Code>[],
  work: () => Promise<string | null>,
): Promise<void> {
  const codes = findings.map(({ code }) => code);
  let left: Failure["message"] | null;
  try {
    left = await work();
    add(report.repaired, codes);
  } catch (error) {
    if (error instanceof Paused) throw error;
    left = failureOf(error).message;
    log("warn", "care.not_repaired", { asset: assetId, code: codes[0], cause: traceOf(error) });
  }
  add(report.findings, codes);
  if (left === null || report.left.length >= CARE.left) return;
  report.left.push({ asset_id: assetId, code: codes[0]!, message: left });
}

function add(counts: Counts, codes: Code[]): void {
  for (const code of codes) counts[code] = (counts[code] ?? 0) + 1;
}
