import type { z } from "zod";
import { log } from "../log.ts";

/**
 * Hands the messages of a batch to `handle`, one after another, which acknowledges or retries its
 * own. A message that doesn't match `schema` never will: it is logged and acknowledged.
 */
export async function eachMessage<Schema extends z.ZodType>(
  batch: MessageBatch,
  schema: Schema,
  handle: (body: z.output<Schema>, message: Message) => Promise<void>,
): Promise<void> {
  for (const message of batch.messages) {
    const parsed = schema.safeParse(message.body);
    if (parsed.success) await handle(parsed.data, message);
    else {
      log("error", "queue.unreadable_message", { queue: batch.queue, message: message.id });
      message.ack();
    }
  }
}
