import { traceOf } from "../errors.ts";
import { log } from "../log.ts";

const BATCH = 100; // what a queue takes at once

/** Sends messages whose intent is stored. What a queue refuses is logged as `event`: the alarm asks again. */
export async function sendAll<Body>(
  queue: Queue<Body>,
  bodies: Body[],
  event: string,
  fields: Record<string, string>,
): Promise<void> {
  for (let from = 0; from < bodies.length; from += BATCH) {
    try {
      await queue.sendBatch(bodies.slice(from, from + BATCH).map((body) => ({ body })));
    } catch (error) {
      log("error", event, { ...fields, cause: traceOf(error) });
    }
  }
}
