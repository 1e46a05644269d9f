import type { Sources } from "./check-layers.ts";

/** What is derived from constants or from its own key, so that it is the same for everybody. */
const DERIVED: Record<string, string> = {
  "src/app.ts cachedDocument": "the API description",
  "src/isolate-memory.ts memories": "the register",
  "src/media/pixels/jpeg.ts decoder": "a compiled module",
  "src/media/pixels/jpeg.ts encoder": "a compiled module",
  "src/search/query.ts recent": "texts, by themselves",
  "src/signed-token.ts secretsByText": "parsed settings, by their text",
};
/** Tables of words. */
const WORDS = "src/text/";
const VARIABLE = /^(?:export )?let (\w+)/gm;
const COLLECTION =
  /^(?:export )?const (\w+)(?:: (?!Readonly)[^=]+)? = new (?:LruCache\b|(?:Map|Set)(?:<.*>)?\(\))/gm;

/**
 * Returns a sentence for each variable or collection of a module that outlives a request and isn't
 * registered in `src/isolate-memory.ts`: it would carry something from one test to the next.
 */
export function findUnregistered(sources: Sources): string[] {
  const problems: string[] = [];
  for (const [file, text] of sources) {
    if (!file.startsWith("src/") || file.startsWith(WORDS)) continue;
    for (const pattern of [VARIABLE, COLLECTION]) {
      for (const { 1: name } of text.matchAll(pattern)) {
        if (`${file} ${name}` in DERIVED) continue;
        problems.push(`${file} keeps ${name} between requests: register it by remember()`);
      }
    }
  }
  return problems;
}
