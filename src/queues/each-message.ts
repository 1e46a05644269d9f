import type { z } from "zod";
import { log } from "../log.ts";

/**
 * Works on a batch's messages one by one; `work` acknowledges or retries its own. A message that
 * doesn't have the shape of `schema` never will: it is logged and let go.
 */
export async function eachMessage<Schema extends z.ZodType>(
  batch: MessageBatch,
  schema: Schema,
  work: (task: z.output<Schema>, message: Message) => Promise<void>,
): Promise<void> {
  for (const message of batch.messages) {
    const parsed = schema.safeParse(message.body);
    if (parsed.success) await work(parsed.data, message);
    else {
      log("error", "queue.unreadable_message", { queue: batch.queue, message: message.id });
      message.ack();
    }
  }
}
