import { CHECKED_INDEX } from "../ids.ts";
import { probeDatabase } from "./d1/accounts.ts";
import { listPairNumbers } from "./d1/pair-records.ts";
import { indexDatabase } from "./index-database/index-database.ts";
import { indexObject } from "./index-object.ts";
import { pairBindings } from "./vectorize/vector-pairs.ts";

/** Messages that a queue has. */
export interface Backlog {
  messages: number;
  /** Epoch ms; null if the queue is empty, or doesn't say. */
  oldestAt: number | null;
}

/** A call of a binding that does no work and costs next to nothing. */
export interface BindingCall {
  binding: string;
  call: () => Promise<unknown>;
}

/** Lists a call for each binding of the deployment that stores something, except queues. */
export function listBindingCalls(env: Env): BindingCall[] {
  const pairs = listPairNumbers(env).flatMap((number): BindingCall[] => {
    const { text, image } = pairBindings(env, number);
    return [
      { binding: `TEXT_VECTORS_${number}`, call: () => text.describe() },
      { binding: `IMAGE_VECTORS_${number}`, call: () => image.describe() },
    ];
  });
  const database = { indexId: CHECKED_INDEX, shard: 0 };
  return [
    { binding: "DB", call: () => probeDatabase(env.DB) },
    { binding: "MEDIA", call: () => env.MEDIA.head(CHECKED_INDEX) },
    ...pairs,
    { binding: "MEDIA_INDEX", call: async () => indexObject(env, CHECKED_INDEX).getWebhook() },
    { binding: "INDEX_DATABASE", call: () => indexDatabase(env, database).size() },
  ];
}

const QUEUES = ["INGEST", "JOBS", "WEBHOOKS"] as const;

/** Lists a call for each queue, which returns its `Backlog`. */
export function listQueueCalls(env: Env): (BindingCall & { call: () => Promise<Backlog> })[] {
  return QUEUES.map((binding) => ({
    binding,
    async call() {
      const { backlogCount, oldestMessageTimestamp } = await env[binding].metrics();
      return { messages: backlogCount, oldestAt: oldestMessageTimestamp?.getTime() ?? null };
    },
  }));
}
