import { compileQuery } from "../../src/search/query.ts";

/** Tests whether a text has all terms of a query, in any form. */
export function isFound(query: string, text: string): boolean {
  const { terms } = compileQuery(query);
  return new Set(terms.findMatches(text).map(({ term }) => term)).size === terms.count;
}
