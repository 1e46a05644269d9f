import { LIMITS } from "../config.ts";
import { AppError } from "../errors.ts";
import { QuotaGuard } from "../store/d1/quotas.ts";
import type { Asset } from "../types.ts";

/** Returns the length of a video or sound in ms. Throws `unreadable_container` and `too_long`. */
export function requireLengthMs(seconds: number): number {
  if (!(seconds > 0)) {
    throw new AppError("unreadable_container", "The file has no frames: its length is zero.");
  }
  if (seconds > LIMITS.videoSeconds) {
    const hours = LIMITS.videoSeconds / 3600;
    throw new AppError("too_long", `The file is longer than ${hours} hours; cut it into parts.`);
  }
  return Math.round(seconds * 1000);
}

/** Returns the check that the account may ingest the minutes that no earlier run has counted. */
export function minutesQuota(asset: Asset, durationMs: number): QuotaGuard {
  const minutes = (durationMs - asset.durationMs) / 60_000;
  return new QuotaGuard(asset.accountId, { ingest_minutes_per_day: minutes });
}
