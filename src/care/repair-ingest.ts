import { AppError, ERRORS, type ErrorCode } from "../errors.ts";
import { fetchAgain } from "../ingest/fetch.ts";
import { indexObject } from "../store/index-object.ts";
import { noteRestart, recountSegments, wasRestarted } from "../store/repairs.ts";
import { listSegments } from "../store/segments.ts";
import type { Fix } from "./work.ts";

/** Begun again once, where the cause may have passed. */
export const restartFailed: Fix = async (work) => {
  const { env, asset } = work;
  const { code, message } = asset.error ?? { code: "step_failed", message: "The ingest failed." };
  if (!mayPass(code)) throw new AppError(code, message);
  if (await wasRestarted(env.DB, asset.assetId)) {
    throw new AppError(code, `It was begun again, and failed again. ${message}`);
  }
  await restart(work, []);
  await noteRestart(env.DB, asset.assetId, Date.now());
  return null;
};

/** From the start: what is done already is found so. */
export const restart: Fix = async ({ env, asset }) => {
  const { indexId, assetId, assetType, jobId } = asset;
  await indexObject(env, indexId).start(indexId, assetId, assetType, jobId);
  return null;
};

export const fetchSourceAgain: Fix = async ({ env, asset }) => {
  await fetchAgain(env, asset);
  return null;
};

/** Only where none is gone: else the record is right. */
export const recount: Fix = async ({ env, asset }) => {
  const segments = await listSegments(env.DB, asset.assetId, 0, Number.MAX_SAFE_INTEGER);
  const isWhole = segments.every(({ position, startMs }, i) => {
    return position === i && startMs === (i === 0 ? segments[0]!.startMs : segments[i - 1]!.endMs);
  });
  const last = segments.at(-1);
  if (!last || !isWhole || (last.endMs !== null && last.endMs < asset.durationMs)) {
    throw new AppError("internal", "Segments are gone: delete it, and add it again.");
  }
  await recountSegments(env.DB, asset.assetId);
  return null;
};

/** Whether an ingest that has ended so may end otherwise, without anybody doing anything. */
function mayPass(code: ErrorCode): boolean {
  const { status, tries } = ERRORS[code];
  const isOurs = code === "step_failed" || code === "limit_reached";
  return isOurs || (status >= 500 && tries > 1);
}
