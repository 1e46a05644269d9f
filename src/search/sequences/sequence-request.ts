import { z } from "zod";
import { SEQUENCES } from "../../parameters.ts";
import { searchRequest } from "../request.ts";
import { subqueryRequest } from "../subquery.ts";

/** A search for one thing, or for several in order; parses the requests of queued searches. */
export const sequenceRequest = searchRequest.extend({
  /** The steps, in order; empty for a search without them. */
  sequence: z.array(subqueryRequest).default([]),
  /** The longest time between the end of a step and the start of the next. */
  withinSeconds: z.number().default(SEQUENCES.defaultWithinSeconds),
});
export type SequenceRequest = z.infer<typeof sequenceRequest>;
