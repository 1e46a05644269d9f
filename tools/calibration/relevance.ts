import { stemmer } from "stemmer";
import { contentWords } from "../../src/search/query.ts";
import { objectNames, type Presence, presenceOf } from "./object-names.ts";

export function listStems(text: string): string[] {
  return contentWords(text).map(stemmer);
}

/** Returns the stems of all content words of some texts. */
export function stemsOf(texts: readonly string[]): Set<string> {
  return new Set(texts.flatMap(listStems));
}

/**
 * Creates a judge of whether an item is relevant to a query: whether the captions that people wrote
 * of it together contain all content words of the query, by stem (Porter, "An algorithm for suffix
 * stripping", 1980), or kinds of the objects that they name. The words that people used count as
 * their judgement; a long query hardly ever matches another photo, a single word matches many.
 */
export function createRelevance(
  items: readonly (readonly string[])[],
): (query: string) => (item: number) => Presence {
  const names = objectNames();
  const stems = items.map(stemsOf);
  const objects = items.map((captions) => names.readObjects(captions));
  return (query) => {
    const words = contentWords(query).map((word) => {
      return { stem: stemmer(word), kind: names.readWord(word) };
    });
    return (item) => {
      const missing = words.filter(({ stem }) => !stems[item]!.has(stem));
      const presences = new Set(missing.map(({ kind }) => presenceOf(kind, objects[item]!)));
      if (presences.has("absent")) return "absent";
      return presences.has("unknown") ? "unknown" : "present";
    };
  };
}
