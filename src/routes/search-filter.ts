import { z } from "@hono/zod-openapi";
import { LIMITS } from "../config.ts";
import { type Condition, type Operator, OPERATORS, type Scalar } from "../store/asset-scope.ts";
import { anyObject, isObject } from "./json-object.ts";

type Report = (path: string[], type: string, message: string) => void;

const FIELD = /^[^.]+(\.[^.]+)*$/;
const WANTED = new Map([
  ["created_at", "an RFC 3339 time, or a day like 2026-01-31"],
  ["duration_seconds", "number"],
]);
const TIME = z.iso.datetime({ offset: true }).or(z.iso.date());

/** `{"year": {"$gte": 2024}, "camera": "A"}`: every rule must hold. */
export const searchFilter = anyObject().superRefine((filter, ctx) => {
  readFilter(filter, (path, type, message) =>
    ctx.addIssue({ code: "custom", path, message, params: { type } }),
  );
});

/** The rules of a filter; what breaks the filter's own is reported, and left out. */
export function readFilter(
  filter: Record<string, unknown>,
  report: Report = () => {},
): Condition[] {
  const rules = Object.values(filter).map((one) => (isObject(one) ? Object.keys(one).length : 1));
  if (rules.reduce((sum, count) => sum + count, 0) > LIMITS.filterRules) {
    report([], "too_long", `A filter has at most ${LIMITS.filterRules} rules`);
    return [];
  }
  return Object.entries(filter).flatMap(([field, value]) => {
    if (!FIELD.test(field)) {
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
      const read = readOperand(field, operator, operand, (type, message) =>
        report(path, type, message),
      );
      return read === undefined ? [] : [{ field, operator, operand: read }];
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
      const wanted = WANTED.get(field) ?? "text, number, boolean or null";
      report("value_error", `Input should be ${wanted}`);
      return undefined;
    }
    values.push(scalar);
  }
  if (values.length > LIMITS.assetIds) {
    report("too_long", `A list has at most ${LIMITS.assetIds} values`);
    return undefined;
  }
  return isList ? values : values[0];
}

/** A time in epoch ms; of a day, its start in UTC. */
function readScalar(field: string, value: unknown): Scalar | undefined {
  if (field === "created_at") {
    const time = TIME.safeParse(value).data;
    return time === undefined ? undefined : Date.parse(time);
  }
  if (field === "duration_seconds") return typeof value === "number" ? value : undefined;
  const isScalar = value === null || ["string", "number", "boolean"].includes(typeof value);
  return isScalar ? (value as Scalar) : undefined;
}
