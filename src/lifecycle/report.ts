import { LIFECYCLE } from "../config.ts";
import { failureOf, isDeferrable, traceOf } from "../errors.ts";
import { log } from "../log.ts";
import type { Asset } from "../types.ts";
import type { Finding, FindingCode, IndexFindingCode } from "./findings.ts";
import { SlicePaused } from "./slice.ts";

/** A traversal waits for a rate limit, but not for the quota of a day or a month. */
const MAX_WAIT_SECONDS = 600;

type Code = FindingCode | IndexFindingCode;
type Counts = Partial<Record<Code, number>>;

/** Findings and repairs of a traversal so far: the result of its job. */
export interface Report {
  /** Number of assets inspected. */
  assets: number;
  /** Number of times that each was found. */
  findings: Counts;
  /** Number of times that each was repaired. */
  repaired: Counts;
  /**
   * Findings that couldn't be repaired, or not completely: the first `LIFECYCLE.maxUnrepaired`.
   * `asset_id` and `title` are null for findings of the index.
   */
  unrepaired: { asset_id: string | null; title: string | null; code: Code; message: string }[];
}

export function newReport(): Report {
  return { assets: 0, findings: {}, repaired: {}, unrepaired: [] };
}

/**
 * Runs a repair and records its findings in the report. The returned sentence names data that
 * can't be restored. Throws only `SlicePaused` and the errors of limits that pass within
 * `MAX_WAIT_SECONDS`, and then records nothing.
 */
export async function recordRepair(
  report: Report,
  asset: Pick<Asset, "assetId" | "title"> | null,
  findings: Finding<Code>[],
  repair: () => Promise<string | null>,
): Promise<void> {
  const codes = findings.map(({ code }) => code);
  let message: string | null;
  try {
    message = await repair();
    count(report.repaired, codes);
  } catch (error) {
    const isWaiting = isDeferrable(error) && error.retryAfter <= MAX_WAIT_SECONDS;
    if (error instanceof SlicePaused || isWaiting) throw error;
    message = failureOf(error).message;
    log("warn", "lifecycle.repair_failed", {
      asset: asset?.assetId,
      code: codes[0],
      cause: traceOf(error),
    });
  }
  count(report.findings, codes);
  if (message === null || report.unrepaired.length >= LIFECYCLE.maxUnrepaired) return;
  const { assetId = null, title = null } = asset ?? {};
  report.unrepaired.push({ asset_id: assetId, title, code: codes[0]!, message });
}

function count(counts: Counts, codes: Code[]): void {
  for (const code of codes) counts[code] = (counts[code] ?? 0) + 1;
}
