import { compileQuery } from "../../src/search/query.ts";
import { guessLanguage } from "../../src/text/languages.ts";

/** Tests whether a text has all terms of a query, in any form. */
export function isFound(query: string, text: string): boolean {
  const { terms } = compileQuery(query);
  return (
    new Set(terms.findMatches(text, guessLanguage(text)).map(({ term }) => term)).size ===
    terms.count
  );
}
