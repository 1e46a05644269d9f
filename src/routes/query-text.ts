import { z } from "@hono/zod-openapi";
import { LIMITS } from "../config.ts";
import { hasWord } from "../search/query.ts";

/** Issue of a query in which there is nothing to search for: `?`, an emoji, blanks. */
export const NO_WORD = "a query needs a word or a number";

/** Schema of a query that must have a word or a number, of 1 to 2,000 characters. */
export function queryText() {
  const text = z.string().min(1).max(LIMITS.queryCharacters);
  return text.refine(hasWord, NO_WORD);
}

/** Description of the parameter `modes`. */
export const MODES_DESCRIPTION =
  "Kinds of assets (`video`, `image`) and kinds of evidence (`visual`, `speech`, `text`) to search. " +
  "Default: all.";
