import { postWebhook } from "../fetching/webhook.ts";
import { log } from "../log.ts";
import { indexObject } from "../store/index-object.ts";
import { eachMessage } from "./each-message.ts";
import { type WebhookTask, webhookTask } from "./messages.ts";

/**
 * Sends each event that a message names, once; how it went is for the index's object, which asks again
 * when it is time. So a message that is lost needs no retry of its own, and no dead-letter queue.
 */
export function consumeWebhooks(batch: MessageBatch, env: Env): Promise<void> {
  return eachMessage(batch, webhookTask, async (task, message) => {
    await attempt(task, env);
    message.ack();
  });
}

async function attempt({ indexId, seq }: WebhookTask, env: Env): Promise<void> {
  const index = indexObject(env, indexId);
  const claimed = await index.claimDelivery(seq);
  if (!claimed) return;
  const startedAt = Date.now();
  const outcome = await postWebhook(claimed, env.FETCH_ALLOW, startedAt);
  await index.settleDelivery(seq, outcome);
  const fields = { delivery: claimed.id, status: outcome.status, ms: Date.now() - startedAt };
  if (outcome.problem === null) log("info", "webhook.delivered", fields);
  else log("warn", "webhook.not_delivered", fields);
}
