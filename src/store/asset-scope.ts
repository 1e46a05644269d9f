import type { AssetId, IndexId } from "../ids.ts";
import { ASSET_TYPES, type AssetType } from "../types.ts";
import { IN_JSON } from "./rows.ts";

export type Scalar = string | number | boolean | null;

export const OPERATORS = ["$eq", "$ne", "$in", "$nin", "$gt", "$gte", "$lt", "$lte"] as const;
export type Operator = (typeof OPERATORS)[number];

/**
 * A rule about an asset. `field` is a path into its metadata, dots between the keys, or `created_at`
 * (epoch ms) or `duration_seconds`. `$in` and `$nin` take a list, the rest one value.
 */
export interface Condition {
  field: string;
  operator: Operator;
  operand: Scalar | Scalar[];
}

/** Which assets count. */
export interface AssetScope {
  indexId: IndexId;
  types: readonly AssetType[];
  /** Empty means all. */
  assetIds: readonly string[];
  /** The one that doesn't count: the one that is asked about. */
  exceptAssetId: string | null;
  conditions: readonly Condition[];
  /** Epoch ms: only what was ready by then. */
  readyBy: number;
}

/** SQL with a `?` for each of its bindings, in order. */
export interface Clause {
  sql: string;
  bindings: (string | number)[];
}

const COMPARE = { $gt: ">", $gte: ">=", $lt: "<", $lte: "<=" } as const;
/** JSON's kinds of values, as `json_each` names them, with one name for numbers. */
const KIND = (type: string) => `CASE ${type} WHEN 'integer' THEN 'real' ELSE ${type} END`;

/** Holds for the ready assets of a scope that nobody has deleted, in a statement that reads `assets`. */
export function isInScope(scope: AssetScope): Clause {
  const clauses: Clause[] = [
    { sql: "assets.index_id = ?", bindings: [scope.indexId] },
    { sql: "assets.searchable_at <= ?", bindings: [scope.readyBy] },
    { sql: `assets.asset_type ${IN_JSON}`, bindings: [JSON.stringify(scope.types)] },
    ...scope.conditions.map(toClause),
  ];
  if (scope.assetIds.length > 0) {
    clauses.push({ sql: `assets.asset_id ${IN_JSON}`, bindings: [JSON.stringify(scope.assetIds)] });
  }
  if (scope.exceptAssetId !== null) {
    clauses.push({ sql: "assets.asset_id <> ?", bindings: [scope.exceptAssetId] });
  }
  return {
    sql: clauses.map(({ sql }) => `(${sql})`).join(" AND "),
    bindings: clauses.flatMap(({ bindings }) => bindings),
  };
}

/**
 * The rowids of an index's segments that are in scope, by the smaller list: of those that count (`IN` it) or of
 * those that don't (`NOT IN`).
 */
export function segmentsInScope(scope: AssetScope): Clause & { verb: "IN" | "NOT IN" } {
  const segments = "SELECT segments.rowid FROM assets JOIN segments USING (asset_id) WHERE";
  if (isNarrow(scope)) {
    const { sql, bindings } = isInScope(scope);
    return { verb: "IN", sql: `${segments} ${sql}`, bindings };
  }
  return {
    verb: "NOT IN",
    sql: `${segments} assets.index_id = ? AND assets.searchable_at > ?`,
    bindings: [scope.indexId, scope.readyBy],
  };
}

/** How many segments are in scope, as `total`; of whole indices also those that aren't ready yet, or being removed. */
export function countInScope(scope: AssetScope): Clause {
  if (isChosen(scope)) {
    const { sql, bindings } = isInScope(scope);
    return { sql: `SELECT SUM(segments) AS total FROM assets WHERE ${sql}`, bindings };
  }
  return {
    sql: `SELECT SUM(segments) AS total FROM tallies WHERE index_id = ? AND asset_type ${IN_JSON}`,
    bindings: [scope.indexId, JSON.stringify(scope.types)],
  };
}

function isNarrow(scope: AssetScope): boolean {
  const isWhole = scope.types.length === ASSET_TYPES.length && scope.exceptAssetId === null;
  return !isWhole || isChosen(scope);
}

/** Whether assets are chosen one by one, by name or by rules. */
export function isChosen({ assetIds, conditions }: AssetScope): boolean {
  return assetIds.length > 0 || conditions.length > 0;
}

/** The ids of the first `limit` assets of a scope. */
export async function listScope(
  db: D1Database,
  scope: AssetScope,
  limit: number,
): Promise<string[]> {
  const { sql, bindings } = isInScope(scope);
  const { results } = await db
    .prepare(`SELECT asset_id AS assetId FROM assets WHERE ${sql} LIMIT ?`)
    .bind(...bindings, limit)
    .all<{ assetId: AssetId }>();
  return results.map(({ assetId }) => assetId);
}

/**
 * A missing field and an empty list are like `null`; of a list, one member that fits is enough. An object is there,
 * and equals nothing: its members have paths of their own.
 */
function toClause({ field, operator, operand }: Condition): Clause {
  if (operator === "$ne" || operator === "$nin") return not(isAnyOf(field, [operand].flat()));
  if (operator === "$eq" || operator === "$in") return isAnyOf(field, [operand].flat());
  const actual = valuesOf(field);
  return {
    sql: `EXISTS (SELECT 1 FROM (${actual.sql}) AS actual, json_each(?) AS wanted
      WHERE ${KIND("actual.type")} = ${KIND("wanted.type")}
        AND actual.value ${COMPARE[operator]} wanted.value)`,
    bindings: [...actual.bindings, JSON.stringify([operand])],
  };
}

function isAnyOf(field: string, wanted: Scalar[]): Clause {
  const actual = valuesOf(field);
  const isThere: Clause = {
    sql: `EXISTS (SELECT 1 FROM (${actual.sql}) AS actual, json_each(?) AS wanted
      WHERE ${KIND("actual.type")} = ${KIND("wanted.type")} AND actual.value = wanted.value)`,
    bindings: [...actual.bindings, JSON.stringify(wanted.filter((value) => value !== null))],
  };
  if (!wanted.includes(null)) return isThere;
  return {
    sql: `${isThere.sql} OR NOT EXISTS (SELECT 1 FROM (${actual.sql}) WHERE type <> 'null')`,
    bindings: [...isThere.bindings, ...actual.bindings],
  };
}

function not({ sql, bindings }: Clause): Clause {
  return { sql: `NOT (${sql})`, bindings };
}

/** The values of a field with their kinds: one, or those of a list. */
function valuesOf(field: string): Clause {
  if (field === "duration_seconds") {
    return { sql: "SELECT assets.duration_ms / 1000.0 AS value, 'real' AS type", bindings: [] };
  }
  if (field === "created_at") {
    return { sql: "SELECT assets.created_at AS value, 'real' AS type", bindings: [] };
  }
  const path = ["$", ...field.split(".").map((key) => JSON.stringify(key))].join(".");
  return {
    sql: `SELECT value, type FROM (SELECT assets.metadata -> ? AS held),
      json_each(iif(json_type(held) = 'array', held, json_array(json(held))))`,
    bindings: [path],
  };
}
