import { normalizeText } from "../../normalize-text.ts";
import { AGGREGATE } from "../../parameters.ts";
import type { FoundAsset } from "../../store/index-database/find-segments.ts";
import {
  type GroupKey,
  type Grouping,
  keyId,
  MAX_KEY_CHARACTERS,
  compareKeys,
} from "../../store/index-database/groups.ts";
import type { Segment } from "../../types.ts";
import { isObject } from "../../user-metadata.ts";

const TAKEN_AT = { year: 4, month: 7, day: 10 } as const;
const FIELD = /^(metadata|technical)\.(.+)$/su;

/** What `parseGrouping` takes, for messages. */
export const GROUPINGS =
  "asset, asset_type, folder, label, metadata.FIELD, technical.FIELD, " +
  "taken_at.year, taken_at.month or taken_at.day";

/** Parses the name of a grouping, such as `metadata.camera`; null if it is none. */
export function parseGrouping(name: string): Grouping | null {
  if (name === "asset") return { by: "asset" };
  if (name === "asset_type") return { by: "asset_type" };
  if (name === "label") return { by: "label" };
  if (name === "folder") return { by: "field", column: "technical", path: "folder" };
  for (const [unit, characters] of Object.entries(TAKEN_AT)) {
    if (name === `taken_at.${unit}`) return { by: "taken_at", characters };
  }
  const [, column, path] = FIELD.exec(name) ?? [];
  if (path === undefined) return null;
  return {
    by: "field",
    column: column as "metadata" | "technical",
    path: normalizeText(path, "NFC"),
  };
}

/** The fields that keys are read from. */
export interface GroupedSegment {
  segment: Pick<Segment, "labels">;
  asset: Pick<FoundAsset, "assetId" | "assetType" | "metadata" | "technical">;
}

/**
 * Returns the keys of a segment, each once, as `listGroups` does in SQL: a list has one for each of
 * its values, and what has no text, number or boolean has the key null.
 */
export function groupKeysOf(grouping: Grouping, { segment, asset }: GroupedSegment): GroupKey[] {
  const values = valuesOf(grouping, segment, asset).filter(isKey).map(cutKey);
  const keys = [...new Map(values.map((value) => [keyId(value), value])).values()];
  return keys.length > 0 ? keys : [null];
}

function valuesOf(
  grouping: Grouping,
  { labels }: GroupedSegment["segment"],
  { assetId, assetType, metadata, technical }: GroupedSegment["asset"],
): unknown[] {
  switch (grouping.by) {
    case "asset":
      return [assetId];
    case "asset_type":
      return [assetType];
    case "label":
      return labels;
    case "taken_at": {
      const takenAt = technical["taken_at"];
      return typeof takenAt === "string" ? [takenAt.slice(0, grouping.characters)] : [];
    }
    default: {
      const column = grouping.column === "metadata" ? metadata : technical;
      return [...valuesAt(column, grouping.path)].flat();
    }
  }
}

/** Yields the values at a path: a dot stands between keys of nested objects, or in a key. */
function* valuesAt(value: unknown, path: string): Generator {
  if (Array.isArray(value)) for (const member of value) yield* valuesAt(member, path);
  if (!isObject(value)) return;
  for (const [key, member] of Object.entries(value)) {
    if (key === path) yield member;
    else if (path.startsWith(`${key}.`)) yield* valuesAt(member, path.slice(key.length + 1));
  }
}

function isKey(value: unknown): value is Exclude<GroupKey, null> {
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean";
}

function cutKey<Key extends Exclude<GroupKey, null>>(key: Key): Key | string {
  return typeof key === "string" && key.length > MAX_KEY_CHARACTERS
    ? Array.from(key).slice(0, MAX_KEY_CHARACTERS).join("")
    : key;
}

/** Groups hits by their keys: one with several keys is in several groups. */
export function groupByKey<Hit extends GroupedSegment>(
  grouping: Grouping,
  hits: readonly Hit[],
): [key: GroupKey, hits: Hit[]][] {
  const keyed = hits.flatMap((hit) => groupKeysOf(grouping, hit).map((key) => ({ key, hit })));
  const groups = Map.groupBy(keyed, ({ key }) => keyId(key));
  return [...groups.values()].map((group) => [group[0]!.key, group.map(({ hit }) => hit)]);
}

/** Values of fields among the hits of a search, by the names of groupings. */
export type Facets = Record<string, { key: GroupKey; count: number }[]>;

/** Counts hits by the values of each grouping, the most frequent first. */
export function countFacets(names: readonly string[], hits: readonly GroupedSegment[]): Facets {
  const counts = names.map((name) => {
    const groups = groupByKey(parseGrouping(name)!, hits);
    const sorted = groups
      .map(([key, members]) => ({ key, count: members.length }))
      .toSorted((a, b) => b.count - a.count || compareKeys(a.key, b.key));
    return [name, sorted.slice(0, AGGREGATE.facetValues)] as const;
  });
  return Object.fromEntries(counts);
}
