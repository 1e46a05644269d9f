import { app } from "./app.ts";
import { sweep } from "./lifecycle/sweep.ts";
import { consumeDeadIngest, consumeIngest } from "./queues/ingest.ts";
import { consumeDeadJobs, consumeJobs } from "./queues/jobs.ts";
import { type QueueRole, queueRole } from "./queues/queue-role.ts";
import { consumeWebhooks } from "./queues/webhooks.ts";

export { IndexDatabase } from "./durable/index-database.ts";
export { MediaIndex } from "./durable/media-index.ts";
export { ModelLimiter } from "./durable/model-limiter.ts";

const CONSUMERS: Record<QueueRole, (batch: MessageBatch, env: Env) => Promise<void>> = {
  ingest: consumeIngest,
  "ingest-dead": consumeDeadIngest,
  jobs: consumeJobs,
  "jobs-dead": consumeDeadJobs,
  webhooks: consumeWebhooks,
};

export default {
  fetch: app.fetch,
  queue: (batch, env) => CONSUMERS[queueRole(batch.queue)](batch, env),
  scheduled: (event, env) => sweep(env, event.scheduledTime),
} satisfies ExportedHandler<Env>;
