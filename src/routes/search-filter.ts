import { z } from "@hono/zod-openapi";
import { LIMITS } from "../config.ts";
import { anyObject } from "../http/json-object.ts";
import {
  type Condition,
  type Operator,
  OPERATORS,
  type Scalar,
} from "../store/index-database/asset-scope.ts";
import { isObject } from "../user-metadata.ts";

type ReportIssue = (path: string[], type: string, message: string) => void;

const EXPECTED_TYPES = new Map([
  ["created_at", "an RFC 3339 time, or a day like 2026-01-31"],
  ["technical.taken_at", "an RFC 3339 time, or a day like 2026-01-31, or null"],
  ["duration_seconds", "number"],
]);
const TIME = z.iso.datetime({ offset: true }).or(z.iso.date());

export const FILTER_DESCRIPTION =
  'Conditions on the metadata of assets, such as `{"year": {"$gte": 2024}, "camera": "A"}`; ' +
  "also on `created_at`, `duration_seconds` and facts of the file, such as " +
  '`{"technical.taken_at": {"$gte": "2024-06-01"}}`. Operators: `$eq $ne $in $nin $lt $lte $gt ' +
  "$gte`; keys of nested objects with dots between them, or in them. All must hold.";

/** Schema of a filter such as `{"year": {"$gte": 2024}, "camera": "A"}`. All rules must match. */
export const searchFilter = anyObject().superRefine((filter, ctx) => {
  readFilter(filter, (path, type, message) =>
    ctx.addIssue({ code: "custom", path, message, params: { type } }),
  );
});

/** Converts a filter to conditions. Reports invalid rules and omits them from the result. */
export function readFilter(
  filter: Record<string, unknown>,
  report: ReportIssue = () => {},
): Condition[] {
  const ruleCounts = Object.values(filter).map((value) =>
    isObject(value) ? Object.keys(value).length : 1,
  );
  if (ruleCounts.reduce((sum, count) => sum + count, 0) > LIMITS.filterRuleCount) {
    report([], "too_long", `A filter has at most ${LIMITS.filterRuleCount} rules`);
    return [];
  }
  return Object.entries(filter).flatMap(([field, value]) => {
    if (field === "") {
      report([field], "value_error", "A field is a key, or keys with dots between them");
      return [];
    }
    const rules = isObject(value) ? Object.entries(value) : [["$eq", value] as const];
    if (rules.length === 0) {
      report([field], "value_error", `Input should have one of ${OPERATORS.join(", ")}`);
    }
    return rules.flatMap(([name, operand]) => {
      const operator = OPERATORS.find((one) => one === name);
      const path = isObject(value) ? [field, name] : [field];
      if (!operator) {
        report(path, "literal_error", `Input should be one of ${OPERATORS.join(", ")}`);
        return [];
      }
      const checked = readOperand(field, operator, operand, (type, message) =>
        report(path, type, message),
      );
      return checked === undefined ? [] : [{ field, operator, operand: checked }];
    });
  });
}

function readOperand(
  field: string,
  operator: Operator,
  operand: unknown,
  report: (type: string, message: string) => void,
): Scalar | Scalar[] | undefined {
  const isList = operator === "$in" || operator === "$nin";
  if (isList && !Array.isArray(operand)) {
    report("list_type", "Input should be a valid list");
    return undefined;
  }
  const values = [];
  for (const value of isList ? (operand as unknown[]) : [operand]) {
    const scalar = readScalar(field, value);
    if (scalar === undefined) {
      const expected = EXPECTED_TYPES.get(field) ?? "text, number, boolean or null";
      report("value_error", `Input should be ${expected}`);
      return undefined;
    }
    values.push(scalar);
  }
  if (values.length > LIMITS.assetIdCount) {
    report("too_long", `A list has at most ${LIMITS.assetIdCount} values`);
    return undefined;
  }
  return isList ? values : values[0];
}

/** Reads a scalar operand. Times become epoch ms; a day without a time is its start in UTC. */
function readScalar(field: string, value: unknown): Scalar | undefined {
  if (field === "created_at") {
    const time = TIME.safeParse(value).data;
    return time === undefined ? undefined : Date.parse(time);
  }
  if (field === "technical.taken_at" && value !== null) {
    const time = TIME.safeParse(value).data;
    return time === undefined ? undefined : new Date(time).toISOString();
  }
  if (field === "duration_seconds") return typeof value === "number" ? value : undefined;
  const isScalar = value === null || ["string", "number", "boolean"].includes(typeof value);
  return isScalar ? (value as Scalar) : undefined;
}
