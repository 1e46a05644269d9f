import { z } from "zod";
import { MODES } from "./modes.ts";

/** One of several things that a search asks for: words, or a stored example. */
export const subqueryRequest = z.object({
  /** Empty if there is an example. */
  query: z.string(),
  /** Id of the segment or asset that is the example; null without. */
  similarTo: z.string().nullable(),
  modes: z.array(z.enum(MODES)),
});
export type Subquery = z.infer<typeof subqueryRequest>;
