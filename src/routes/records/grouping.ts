import { z } from "@hono/zod-openapi";
import { GROUPINGS, parseGrouping } from "../../search/aggregate/group-keys.ts";

/** Characters of a grouping's name, most of which are the path of a field. */
const MAX_CHARACTERS = 500;

/** Schema of what segments are grouped by, such as `metadata.camera`. */
export const groupingName = z
  .string()
  .max(MAX_CHARACTERS)
  .refine((name) => parseGrouping(name) !== null, `Input should be one of ${GROUPINGS}`)
  .openapi({ example: "metadata.camera" });
