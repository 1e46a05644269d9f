import { getFacet } from "./vector-filter.ts";
import type { Facets, Scalar } from "./vector-rows.ts";

const INDEXED_BYTES = 64;

export type MetadataType = "string" | "number" | "boolean";

/** Returns a vector's indexed metadata: null for a missing value or one of another type. */
export function toFacets(metadata: string | null, types: Record<string, MetadataType>): Facets {
  const parsed: unknown = metadata === null ? {} : JSON.parse(metadata);
  return Object.fromEntries(
    Object.entries(types).map(([property, type]) => {
      const value = getFacet(parsed, property);
      return [property, typeof value === type ? truncate(value) : null];
    }),
  );
}

/** Cuts a string between characters to the 64 bytes that Vectorize indexes. */
function truncate(value: Scalar): Scalar {
  if (typeof value !== "string" || Buffer.byteLength(value) <= INDEXED_BYTES) return value;
  let text = "";
  for (const character of value) {
    if (Buffer.byteLength(text + character) > INDEXED_BYTES) break;
    text += character;
  }
  return text;
}
