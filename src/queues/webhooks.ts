import { postWebhook } from "../fetching/webhook.ts";
import { log } from "../log.ts";
import { type DeliveryMessage, deliveryMessage } from "../messages.ts";
import { indexObject } from "../store/index-object.ts";
import { eachMessage } from "./leased-work.ts";

/**
 * Makes one attempt at each delivery and reports the outcome to its `MediaIndex` object, whose
 * alarm dispatches the next attempt. A lost message needs no retry of its own and no dead-letter
 * queue.
 */
export function consumeWebhooks(batch: MessageBatch, env: Env): Promise<void> {
  return eachMessage(batch, deliveryMessage, async (delivery, message) => {
    await attemptDelivery(delivery, env);
    message.ack();
  });
}

async function attemptDelivery({ indexId, seq }: DeliveryMessage, env: Env): Promise<void> {
  const index = indexObject(env, indexId);
  const claimed = await index.claimDelivery(seq, crypto.randomUUID());
  if (!claimed) return;
  const startedAt = Date.now();
  const outcome = await postWebhook(claimed, env.FETCH_ALLOW, startedAt);
  await index.settleDelivery(seq, outcome);
  const fields = { delivery: claimed.id, status: outcome.statusCode, ms: Date.now() - startedAt };
  if (outcome.error === null) log("info", "webhook.delivered", fields);
  else log("warn", "webhook.delivery_failed", fields);
}
