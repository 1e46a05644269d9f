import { traceOf } from "../errors.ts";
import { log } from "../log.ts";

const MAX_BATCH_SIZE = 100; // limit of `sendBatch`

/**
 * Sends messages whose intent is stored. A batch that the queue refuses is logged as `event`. The
 * alarm sends its messages again when they are overdue.
 */
export async function enqueueAll<Body>(
  queue: Queue<Body>,
  bodies: Body[],
  event: string,
  fields: Record<string, string>,
): Promise<void> {
  for (let from = 0; from < bodies.length; from += MAX_BATCH_SIZE) {
    try {
      await queue.sendBatch(bodies.slice(from, from + MAX_BATCH_SIZE).map((body) => ({ body })));
    } catch (error) {
      log("error", event, { ...fields, cause: traceOf(error) });
    }
  }
}
