import { ASSET_KINDS, type AssetKind } from "../../types.ts";
import { concat, inList, raw, sql, type SqlFragment } from "../sql.ts";

export type Scalar = string | number | boolean | null;

export const OPERATORS = ["$eq", "$ne", "$in", "$nin", "$gt", "$gte", "$lt", "$lte"] as const;
export type Operator = (typeof OPERATORS)[number];

/**
 * A filter rule for assets. `field` is `title`, `folder`, `created_at` (RFC 3339, UTC),
 * `duration_seconds`, or a path of keys with dots between them, and maybe in them: into the
 * technical facts if it begins with `technical.`, else into the metadata. `$in` and `$nin` take a
 * list, the others one value. A day (`2026-01-31`) is compared with the day of a time.
 */
export interface Condition {
  field: string;
  operator: Operator;
  operand: Scalar | Scalar[];
}

/** The assets of an index that a search covers. */
export interface AssetScope {
  kinds: readonly AssetKind[];
  /** Empty for all assets. */
  assetIds: readonly string[];
  /** The example of a query by example, which isn't a result itself. */
  exceptAssetId: string | null;
  conditions: readonly Condition[];
  /** Excludes assets that became searchable later. Epoch ms; null: whether they are or not. */
  readyBy: number | null;
}

const COMPARE = { $gt: ">", $gte: ">=", $lt: "<", $lte: "<=" } as const;
/** A JSON value's type as `json_each` returns it, with one name for both kinds of numbers. */
const typeOf = (type: string) => `CASE ${type} WHEN 'integer' THEN 'real' ELSE ${type} END`;

/** The kind of an asset: `assetKind` of src/asset-kind.ts in SQL. */
const ASSET_KIND = raw(
  "IIF(assets.technical -> '$.has_video' = 'false', 'audio', assets.asset_type)",
);

export function isInScope(scope: AssetScope): SqlFragment {
  const conditions = [
    scope.readyBy === null ? raw("true") : sql`assets.searchable_at <= ${scope.readyBy}`,
    sql`${ASSET_KIND} ${inList(scope.kinds)}`,
    ...scope.conditions.map(toSql),
  ];
  if (scope.assetIds.length > 0) conditions.push(sql`assets.asset_id ${inList(scope.assetIds)}`);
  if (scope.exceptAssetId !== null) {
    conditions.push(sql`assets.asset_id <> ${scope.exceptAssetId}`);
  }
  return concat(
    conditions.map((condition) => sql`(${condition})`),
    " AND ",
  );
}

/**
 * The keys of the segments in scope, as the shorter list: of those that are (`IN`), or of those
 * that aren't (`NOT IN`).
 */
export function segmentsInScope(scope: AssetScope): {
  operator: "IN" | "NOT IN";
  keys: SqlFragment;
} {
  const coversAllKinds = scope.kinds.length === ASSET_KINDS.length && scope.exceptAssetId === null;
  const isNarrow = !coversAllKinds || selectsAssets(scope);
  const condition = isNarrow
    ? isInScope(scope)
    : sql`assets.searchable_at IS NULL OR assets.searchable_at > ${scope.readyBy}`;
  return {
    operator: isNarrow ? "IN" : "NOT IN",
    keys: sql`SELECT segment_key FROM assets JOIN segments USING (asset_key) WHERE ${condition}`,
  };
}

export function selectsAssets({ assetIds, conditions }: AssetScope): boolean {
  return assetIds.length > 0 || conditions.length > 0;
}

/** Types of `json_each` by those of operands. */
const TYPES_OF: Readonly<Record<string, readonly string[]>> = {
  string: ["text"],
  number: ["integer", "real"],
  boolean: ["true", "false"],
};

/**
 * Selects the type of a value that a searchable asset has in the field of a condition, NULL if none
 * has any; and whether one has a value of the operand's type.
 */
export function selectFieldType({ field, operand }: Condition): SqlFragment {
  const values = valuesOf(field);
  const ofOperand = [operand].flat().flatMap((value) => TYPES_OF[typeof value] ?? []);
  const isSearchable = raw("FROM assets WHERE searchable_at > 0");
  return sql`SELECT
    (SELECT (SELECT type FROM (${values}) WHERE type <> 'null') ${isSearchable}
      AND EXISTS (SELECT 1 FROM (${values}) WHERE type <> 'null') LIMIT 1) AS type,
    EXISTS (SELECT 1 ${isSearchable}
      AND EXISTS (SELECT 1 FROM (${values}) WHERE type ${inList(ofOperand)})) AS isComparable`;
}

/**
 * A missing field and an empty list compare as `null`. A list matches if any of its members does.
 * An object isn't null and equals nothing: its members have paths of their own.
 */
function toSql({ field, operator, operand }: Condition): SqlFragment {
  if (operator === "$ne" || operator === "$nin")
    return sql`NOT (${isAnyOf(field, [operand].flat())})`;
  if (operator === "$eq" || operator === "$in") return isAnyOf(field, [operand].flat());
  return existsValue(field, raw(COMPARE[operator]), [operand].flat());
}

function isAnyOf(field: string, values: Scalar[]): SqlFragment {
  const isValue = existsValue(
    field,
    raw("="),
    values.filter((value) => value !== null),
  );
  if (!values.includes(null)) return isValue;
  return sql`${isValue} OR NOT EXISTS (SELECT 1 FROM (${valuesOf(field)}) WHERE type <> 'null')`;
}

/** Whether any value of a field compares to any of `operands`, which must be of the same type. */
function existsValue(field: string, compare: SqlFragment, operands: Scalar[]): SqlFragment {
  const actual = valuesOf(field);
  return sql`EXISTS (
    SELECT 1 FROM (${actual}) AS actual, json_each(${JSON.stringify(operands)}) AS operand
    WHERE ${raw(typeOf("actual.type"))} = ${raw(typeOf("operand.type"))}
      AND ${COMPARED} ${compare} operand.value)`;
}

const DAY = "[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]";
/** A value as it is compared with the operand: a time by its day in UTC if that is a day. */
const COMPARED = raw(
  `coalesce(iif(operand.value GLOB '${DAY}' AND actual.value GLOB '${DAY}[T ]*',
    date(actual.value), NULL), actual.value)`,
);

const TECHNICAL = "technical.";

/** The values of a field with their types: one row, or one for each member of a list. */
function valuesOf(field: string): SqlFragment {
  if (field === "duration_seconds") {
    return raw(`SELECT assets.duration_ms / 1000.0 AS value,
      iif(assets.asset_type = 'image', 'null', 'real') AS type`);
  }
  if (field === "created_at") {
    const time = "strftime('%Y-%m-%dT%H:%M:%fZ', assets.created_at / 1000.0, 'unixepoch')";
    return raw(`SELECT ${time} AS value, 'text' AS type`);
  }
  if (field === "title") return raw("SELECT assets.title AS value, 'text' AS type");
  if (field === "folder") return valuesIn("technical", "folder");
  return field.startsWith(TECHNICAL)
    ? valuesIn("technical", field.slice(TECHNICAL.length))
    : valuesIn("metadata", field);
}

export function valuesIn(of: "metadata" | "technical", name: string): SqlFragment {
  const column = raw(`assets.${of}`);
  const values = name.includes(".")
    ? sql`WITH ${membersOf(column, name)} SELECT json AS field FROM member WHERE rest IS NULL`
    : sql`SELECT ${column} -> ${`$.${JSON.stringify(name)}`} AS field`;
  return sql`SELECT value, type FROM (${values}),
    json_each(iif(json_type(field) = 'array', field, json_array(json(field))))`;
}

/**
 * The table `member`: members of nested objects, and of objects in lists, on the way to those that
 * `path` names, with the rest of the path, which is NULL for these. A dot stands between keys, or
 * in a key.
 */
function membersOf(column: SqlFragment, path: string): SqlFragment {
  return sql`RECURSIVE member(rest, json) AS (
    SELECT ${path}, ${column}
    UNION ALL
    SELECT CASE
      WHEN json_type(member.json) = 'array' THEN rest
      WHEN rest <> key THEN substr(rest, length(key) + 2) END, CASE
      WHEN type IN ('object', 'array') THEN value
      WHEN type IN ('true', 'false') THEN type
      ELSE json_quote(value) END
    FROM member, json_each(member.json)
    WHERE rest IS NOT NULL AND CASE json_type(member.json)
      WHEN 'object' THEN rest = key OR substr(rest, 1, length(key) + 1) = key || '.'
      WHEN 'array' THEN type = 'object' END)`;
}
