import { normalizeText } from "../../normalize-text.ts";
import { AGGREGATE } from "../../parameters.ts";
import type { Segment } from "../../types.ts";
import { isObject } from "../../user-metadata.ts";
import { concat, raw, sql, type SqlFragment } from "../sql.ts";
import { type AssetScope, isInScope, type Scalar, valuesIn } from "./asset-scope.ts";
import type { FoundAsset } from "./find-segments.ts";
import type { IndexDb } from "./index-database.ts";

/** What segments are grouped by. A field is a path as in `Condition`. */
export type Grouping =
  | { by: "asset" }
  | { by: "asset_type" }
  | { by: "label" }
  | { by: "field"; column: "metadata" | "technical"; path: string }
  /** A year, a month or a day: the first characters of the UTC time. */
  | { by: "taken_at"; characters: 4 | 7 | 10 };

/** A value by which segments are grouped; null for none. */
export type GroupKey = Scalar;

/** Characters of a key: longer texts that begin alike are one group. */
const MAX_KEY_CHARACTERS = 200;

/** Numbers of segments, of their milliseconds, and of assets. An image has 0 ms. */
export interface Sizes {
  segments: number;
  durationMs: number;
  assets: number;
}

export interface Group extends Sizes {
  key: GroupKey;
  /** Title of the asset, if each asset is a group; else null. */
  title: string | null;
}

/** The groups of an index, the largest first, and sizes of all. */
export interface GroupList {
  groups: Group[];
  /** Number of groups in all, and the sum of their sizes: an asset may be in several. */
  groupCount: number;
  sum: Sizes;
  /** What is in scope, each once. */
  total: Sizes;
}

export const NO_SIZES: Sizes = { segments: 0, durationMs: 0, assets: 0 };

/**
 * Counts what is in scope by groups, in all databases of an index. Of each database, the `limit`
 * groups count that are largest by `order`: of an index with several databases and more groups, the
 * rest of a group may be missing from its count, and the number of groups is an upper bound.
 */
export async function listGroups(
  databases: readonly IndexDb[],
  scope: AssetScope,
  grouping: Grouping,
  options: { order: keyof Sizes; limit: number },
): Promise<GroupList> {
  const { order, limit } = options;
  const statements = [groupStatement(scope, grouping, order, limit), totalStatement(scope)];
  const answers = await Promise.all(databases.map((db) => db.batch(statements)));
  const rows = answers.flatMap(([groups]) => groups as GroupRow[]);
  const merged = mergeGroups(
    rows.map(({ key, ...row }) => Object.assign(row, { key: JSON.parse(key) as GroupKey })),
  );
  const firsts = answers.flatMap(([groups]) => (groups as GroupRow[]).slice(0, 1));
  const repeated = rows.length - merged.length;
  return {
    groups: merged.toSorted((a, b) => b[order] - a[order] || compareKeys(a.key, b.key)),
    groupCount: firsts.reduce((sum, row) => sum + row.groupCount, -repeated),
    sum: firsts
      .map((row) => ({ segments: row.allSegments, durationMs: row.allMs, assets: row.allAssets }))
      .reduce(addSizes, NO_SIZES),
    total: answers.flatMap(([, total]) => total as Sizes[]).reduce(addSizes, NO_SIZES),
  };
}

type GroupRow = Omit<Group, "key"> & {
  key: string;
  groupCount: number;
  allSegments: number;
  allMs: number;
  allAssets: number;
};

function groupStatement(scope: AssetScope, grouping: Grouping, order: keyof Sizes, limit: number) {
  const grouped = grouping.by === "label" ? groupedByLabel(scope) : groupedByAsset(scope, grouping);
  return sql`WITH ${grouped}
    SELECT key, segments, durationMs, assets, title, COUNT(*) OVER () AS groupCount,
      SUM(segments) OVER () AS allSegments, SUM(durationMs) OVER () AS allMs,
      SUM(assets) OVER () AS allAssets
    FROM grouped ORDER BY ${raw(order)} DESC, key LIMIT ${limit}`;
}

/** The sizes of what is in scope; the segments of an asset are counted by an index alone. */
function totalStatement(scope: AssetScope): SqlFragment {
  return sql`WITH ${sizesInScope(scope, raw("NULL"))}
    SELECT COUNT(*) AS assets, COALESCE(SUM(segments), 0) AS segments,
      COALESCE(SUM(durationMs), 0) AS durationMs
    FROM scoped LEFT JOIN sizes USING (asset_key)`;
}

/** The tables `scoped`, of the assets in scope with a column, and `sizes`, of their segments. */
function sizesInScope(scope: AssetScope, column: SqlFragment): SqlFragment {
  return sql`scoped AS (
      SELECT asset_key, title, ${column} AS keys FROM assets WHERE ${isInScope(scope)}
    ), sizes AS (
      SELECT asset_key, COUNT(*) AS segments, SUM(COALESCE(end_ms - start_ms, 0)) AS durationMs
      FROM segments WHERE asset_key IN (SELECT asset_key FROM scoped) GROUP BY asset_key
    )`;
}

/** The table `grouped`, by keys that all segments of an asset share. */
function groupedByAsset(scope: AssetScope, grouping: Exclude<Grouping, { by: "label" }>) {
  const title = raw(grouping.by === "asset" ? "MAX(title)" : "NULL");
  return sql`${sizesInScope(scope, assetKeys(grouping))}, grouped AS (
      SELECT COALESCE(one.value, 'null') AS key, COALESCE(SUM(segments), 0) AS segments,
        COALESCE(SUM(durationMs), 0) AS durationMs, COUNT(*) AS assets, ${title} AS title
      FROM scoped LEFT JOIN sizes USING (asset_key) LEFT JOIN json_each(scoped.keys) AS one
      GROUP BY 1
    )`;
}

/** The table `grouped`, by labels, of which a segment may have several. */
function groupedByLabel(scope: AssetScope): SqlFragment {
  return sql`labelled AS (
      SELECT DISTINCT segment_key, asset_key, COALESCE(end_ms - start_ms, 0) AS durationMs,
        ${keyText(raw("one.type"), raw("one.value"))} AS key
      FROM segments LEFT JOIN json_each(segments.labels) AS one
      WHERE asset_key IN (SELECT asset_key FROM assets WHERE ${isInScope(scope)})
    ), grouped AS (
      SELECT key, COUNT(*) AS segments, SUM(durationMs) AS durationMs,
        COUNT(DISTINCT asset_key) AS assets, NULL AS title
      FROM labelled GROUP BY key
    )`;
}

/** JSON list of an asset's keys, each as JSON in a string; an empty list for none. */
function assetKeys(grouping: Exclude<Grouping, { by: "label" }>): SqlFragment {
  switch (grouping.by) {
    case "asset":
      return raw("json_array(json_quote(assets.asset_id) || '')");
    case "asset_type":
      return raw("json_array(json_quote(assets.asset_type) || '')");
    case "taken_at": {
      const takenAt = raw("assets.technical ->> '$.taken_at'");
      return sql`IIF(${takenAt} IS NULL, '[]',
        json_array('"' || substr(${takenAt}, 1, ${grouping.characters}) || '"'))`;
    }
    default: {
      const key = keyText(raw("type"), raw("value"));
      return sql`(SELECT json_group_array(DISTINCT ${key})
        FROM (${valuesIn(grouping.column, grouping.path)})
        WHERE type IN ('text', 'integer', 'real', 'true', 'false'))`;
    }
  }
}

/**
 * A value of `json_each` as JSON: texts cut, and `null` for none. The empty string makes it a text,
 * which stays one in a list.
 */
function keyText(type: SqlFragment, value: SqlFragment): SqlFragment {
  return concat(
    [
      sql`(CASE ${type} WHEN 'text' THEN json_quote(substr(${value}, 1, ${MAX_KEY_CHARACTERS}))`,
      sql`WHEN 'true' THEN 'true' WHEN 'false' THEN 'false'`,
      sql`ELSE COALESCE(json_quote(${value}), 'null') END || '')`,
    ],
    " ",
  );
}

/** Identifies a key among others: the number 5 and the text "5" are two. */
function keyId(key: GroupKey): string {
  return JSON.stringify(key);
}

/** Orders keys as their JSON, so that the order of equal groups is always the same. */
export function compareKeys(a: GroupKey, b: GroupKey): number {
  const [one, other] = [keyId(a), keyId(b)];
  if (one === other) return 0;
  return one < other ? -1 : 1;
}

function mergeGroups(groups: readonly Group[]): Group[] {
  return [...Map.groupBy(groups, ({ key }) => keyId(key)).values()].map((parts) => {
    const [{ key, title }] = parts as [Group];
    return Object.assign({ key, title }, parts.reduce(addSizes, NO_SIZES));
  });
}

export function addSizes(a: Sizes, b: Sizes): Sizes {
  return {
    segments: a.segments + b.segments,
    durationMs: a.durationMs + b.durationMs,
    assets: a.assets + b.assets,
  };
}

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
