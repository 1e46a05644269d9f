import type { MetadataType } from "./env.ts";
import { facetAt } from "./vector-filter.ts";
import type { Facets, Scalar } from "./vector-rows.ts";

const INDEXED_BYTES = 64;

/** What the metadata indexes hold of a vector: null where the value is missing or of another type. */
export function facetsOf(metadata: string | null, types: Record<string, MetadataType>): Facets {
  const parsed: unknown = metadata === null ? {} : JSON.parse(metadata);
  return Object.fromEntries(
    Object.entries(types).map(([property, type]) => {
      const value = facetAt(parsed, property);
      return [property, typeof value === type ? truncated(value) : null];
    }),
  );
}

/** Strings are indexed by their first 64 bytes, cut between characters. */
function truncated(value: Scalar): Scalar {
  if (typeof value !== "string" || Buffer.byteLength(value) <= INDEXED_BYTES) return value;
  let text = "";
  for (const character of value) {
    if (Buffer.byteLength(text + character) > INDEXED_BYTES) break;
    text += character;
  }
  return text;
}
