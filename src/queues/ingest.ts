import { INGEST } from "../config.ts";
import { AppError, failureOf, traceOf } from "../errors.ts";
import type { PartRef, TransitionOutcome } from "../ingest/state.ts";
import { runPart } from "../ingest/steps/step-runners.ts";
import { purgeAsset } from "../lifecycle/purge.ts";
import { log } from "../log.ts";
import { type IngestMessage, ingestMessage } from "../messages.ts";
import { costGate } from "../metering/meter-env.ts";
import { startMatching } from "../search/watches/match-asset.ts";
import { getAsset } from "../store/d1/assets.ts";
import { requireQuota } from "../store/d1/quotas.ts";
import { indexObject } from "../store/index-object.ts";
import type { Asset } from "../types.ts";
import { eachMessage, type LeasedWork, runLeased, withMetering } from "./leased-work.ts";

export function consumeIngest(batch: MessageBatch, env: Env): Promise<void> {
  return eachMessage(batch, ingestMessage, (ref, message) =>
    runLeased(message, leasedPart(env, ref, message.attempts)),
  );
}

function leasedPart(
  env: Env,
  { indexId, assetId, step, part }: IngestMessage,
  attempt: number,
): LeasedWork<TransitionOutcome> {
  const index = indexObject(env, indexId);
  const partRef = { step, part };
  const worker = crypto.randomUUID();
  const fields = { asset: assetId, step, part, attempt };
  let asset: Asset | null = null;
  return {
    async claim() {
      if ((await index.claim(assetId, partRef, worker)) !== "ok") return false;
      asset = await getAsset(env.DB, assetId);
      return true;
    },
    renew: () => index.renew(assetId, partRef),
    renewMs: INGEST.renewMs,
    async run() {
      const startedAt = Date.now();
      const fanOut = await runStep(env, asset, partRef, attempt);
      const outcome = await index.complete(assetId, partRef, fanOut);
      log("info", "ingest.step_done", { ...fields, ms: Date.now() - startedAt });
      return outcome;
    },
    logFailure(error) {
      const { code } = failureOf(error);
      log("warn", "ingest.step_failed", { ...fields, code, cause: traceOf(error) });
    },
    release: (failure, dueAt, isDeferred) =>
      index.release(assetId, partRef, isDeferred ? null : failure, dueAt),
    fail: (failure) => index.fail(assetId, step, failure),
    async settle(outcome) {
      // Deletes what the step wrote after the asset was deleted.
      if (outcome === "gone" && asset) await purgeAsset(env, asset);
    },
  };
}

/**
 * Runs a part of a step for the asset's account. Throws `not_found` for a deleted asset, and
 * `cost_limit_reached` while the account's cost of the day is over its limit.
 */
async function runStep(env: Env, asset: Asset | null, { step, part }: PartRef, attempt: number) {
  if (!asset) throw new AppError("not_found", "The asset was deleted.");
  const fanOut = await withMetering(env, asset.accountId, "background", async (metered) => {
    const check = requireQuota(metered.DB, asset.accountId, { cost_usd_per_day: 0 });
    await costGate(metered).admit(check);
    const next = await runPart(step, metered, asset, part, attempt);
    if (step === "finish") await startMatching(metered, asset);
    return next;
  });
  return fanOut ?? undefined;
}

export function consumeDeadIngest(batch: MessageBatch, env: Env): Promise<void> {
  return eachMessage(batch, ingestMessage, async ({ indexId, assetId, step, part }, message) => {
    log("error", "ingest.dead_lettered", { asset: assetId, step, part });
    await indexObject(env, indexId).failExhausted(assetId, { step, part });
    message.ack();
  });
}
