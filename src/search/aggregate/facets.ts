import { AGGREGATE } from "../../parameters.ts";
import { compareKeys, type GroupKey, keyId } from "../../store/index-database/groups.ts";
import { type GroupedSegment, groupKeysOf, parseGrouping } from "./group-keys.ts";

/** Values of fields among the hits of a search, by the names of groupings. */
export type Facets = Record<string, { key: GroupKey; count: number }[]>;

/** Counts hits by the values of each grouping, the most frequent first. */
export function countFacets(names: readonly string[], hits: readonly GroupedSegment[]): Facets {
  return Object.fromEntries(
    names.map((name) => {
      const grouping = parseGrouping(name)!;
      const counts = new Map<string, { key: GroupKey; count: number }>();
      for (const key of hits.flatMap((hit) => groupKeysOf(grouping, hit))) {
        const counted = counts.get(keyId(key)) ?? { key, count: 0 };
        counted.count++;
        counts.set(keyId(key), counted);
      }
      const sorted = [...counts.values()].toSorted(
        (a, b) => b.count - a.count || compareKeys(a.key, b.key),
      );
      return [name, sorted.slice(0, AGGREGATE.facetValues)];
    }),
  );
}
