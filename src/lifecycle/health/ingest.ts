import { LIFECYCLE } from "../../config.ts";
import { AppError, ERRORS, type ErrorCode } from "../../errors.ts";
import { recordRestart, wasRestarted } from "../../store/health.ts";
import { indexObject } from "../../store/index-object.ts";
import type { Asset } from "../../types.ts";
import type { Finding } from "../findings.ts";
import type { Repair } from "../repair-context.ts";

/** Finds an ingest that failed, or that has made no progress for `LIFECYCLE.stuckAfterMs`. */
export function inspectIngest({ state, error, updatedAt }: Asset, now: number): Finding[] {
  if (state === "failed") {
    const message = error?.message ?? "The ingest failed.";
    return [{ code: "ingest_failed", message, about: [] }];
  }
  if (now - updatedAt < LIFECYCLE.stuckAfterMs) return [];
  const minutes = Math.floor((now - updatedAt) / 60_000);
  const message = `The ingest has made no progress for ${minutes} minutes.`;
  return [{ code: "ingest_stuck", message, about: [] }];
}

/**
 * Restarts a failed ingest, once, if its cause may have passed. Throws the ingest's error
 * otherwise.
 */
export const restartFailed: Repair = async (context) => {
  const { env, asset } = context;
  const { code, message } = asset.error ?? {
    code: "attempts_exhausted",
    message: "The ingest failed.",
  };
  if (!isTransient(code)) throw new AppError(code, message);
  if (await wasRestarted(env.DB, asset.assetId)) {
    throw new AppError(code, `It was restarted, and failed again. ${message}`);
  }
  await restartStuck(context, []);
  await recordRestart(env.DB, asset.assetId, Date.now());
  return null;
};

/** Restarts an ingest from its first step. Steps that are done find their results stored. */
export const restartStuck: Repair = async ({ env, asset }) => {
  const { indexId, assetId, assetType, jobId } = asset;
  await indexObject(env, indexId).start(indexId, assetId, assetType, jobId);
  return null;
};

/** Whether an ingest that failed with `code` may succeed later without a change by the user. */
function isTransient(code: ErrorCode): boolean {
  const { status, maxAttempts } = ERRORS[code];
  const isOurs = code === "attempts_exhausted" || code === "limit_reached";
  return isOurs || (status >= 500 && maxAttempts > 1);
}
