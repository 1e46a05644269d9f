import { purgeAsset } from "../care/purge.ts";
import { INGEST } from "../config.ts";
import { AppError, traceOf, failureOf, isRetryable } from "../errors.ts";
import { RUN } from "../ingest/steps.ts";
import { log } from "../log.ts";
import { renewing } from "../renewing.ts";
import { getAsset } from "../store/assets.ts";
import { indexObject } from "../store/index-object.ts";
import { eachMessage } from "./each-message.ts";
import { type IngestMessage, ingestMessage } from "./messages.ts";
import { metered } from "./metered.ts";
import { retryDelay } from "./retry.ts";

/** Does what each message asks for. */
export function consumeIngest(batch: MessageBatch, env: Env): Promise<void> {
  return eachMessage(batch, ingestMessage, (task, message) => workOn(message, task, env));
}

async function workOn(message: Message, task: IngestMessage, env: Env): Promise<void> {
  const { indexId, assetId, step, part } = task;
  const index = indexObject(env, indexId);
  if ((await index.claim(assetId, { step, part })) === "no") return message.ack();
  const renew = () => index.renew(assetId, { step, part });
  return renewing(renew, INGEST.renewMs, () => run(message, task, env));
}

/** Of a part that is held. */
async function run(message: Message, task: IngestMessage, env: Env): Promise<void> {
  const { indexId, assetId, step, part } = task;
  const index = indexObject(env, indexId);
  const startedAt = Date.now();
  const fields = { asset: assetId, step, part, attempt: message.attempts };
  const asset = await getAsset(env.DB, assetId);
  let outcome: "ok" | "gone";
  try {
    if (!asset) throw new AppError("not_found", "The asset was deleted.");
    const fanOut = await metered(env, asset.accountId, (own) =>
      RUN[step](own, asset, part, message.attempts),
    );
    outcome = await index.complete(assetId, { step, part }, fanOut ?? undefined);
    log("info", "ingest.step_done", { ...fields, ms: Date.now() - startedAt });
  } catch (error) {
    const failure = failureOf(error);
    log("warn", "ingest.step_failed", { ...fields, code: failure.code, cause: traceOf(error) });
    if (isRetryable(error, message.attempts)) {
      const retryAfter = error instanceof AppError ? error.retryAfter : undefined;
      const delaySeconds = retryDelay(message.attempts, retryAfter);
      const dueAt = Date.now() + 2 * delaySeconds * 1000;
      await index.release(assetId, { step, part }, failure, dueAt);
      return message.retry({ delaySeconds });
    }
    outcome = await index.fail(assetId, step, failure);
  }
  if (outcome === "gone" && asset) await purgeAsset(env, asset, assetId);
  message.ack();
}

/** Retries are spent: the failure is recorded where people look. */
export function consumeDeadIngest(batch: MessageBatch, env: Env): Promise<void> {
  return eachMessage(batch, ingestMessage, async ({ indexId, assetId, step, part }, message) => {
    log("error", "ingest.dead", { asset: assetId, step, part });
    await indexObject(env, indexId).giveUp(assetId, { step, part });
    message.ack();
  });
}
