import { app } from "./app.ts";
import { sweep } from "./lifecycle/sweep.ts";
import { consumeDeadIngest, consumeIngest } from "./queues/ingest.ts";
import { consumeDeadJobs, consumeJobs } from "./queues/jobs.ts";
import { consumeWebhooks } from "./queues/webhooks.ts";

export { IndexDatabase } from "./durable/index-database.ts";
export { MediaIndex } from "./durable/media-index.ts";
export { ModelLimiter } from "./durable/model-limiter.ts";

const CONSUMERS: Record<string, (batch: MessageBatch, env: Env) => Promise<void>> = {
  "sightline-ingest": consumeIngest,
  "sightline-ingest-dead": consumeDeadIngest,
  "sightline-jobs": consumeJobs,
  "sightline-jobs-dead": consumeDeadJobs,
  "sightline-webhooks": consumeWebhooks,
};

export default {
  fetch: app.fetch,
  queue: (batch, env) => CONSUMERS[batch.queue]!(batch, env),
  scheduled: (event, env) => sweep(env, event.scheduledTime),
} satisfies ExportedHandler<Env>;
