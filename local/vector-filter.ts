import type { Facets, Scalar } from "./vector-rows.ts";

const MAX_FILTER_BYTES = 2048;
const MAX_KEY_CHARACTERS = 512;

export interface Condition {
  property: string;
  operator: string;
  operand: Scalar | Scalar[];
}

/** Parses a filter to conditions that are combined by AND; returns a message if it is invalid. */
export function parseFilter(filter: VectorizeVectorMetadataFilter): Condition[] | string {
  const entries = Object.entries(filter);
  if (entries.length === 0) return "filter must be a non-empty object";
  const bytes = Buffer.byteLength(JSON.stringify(filter));
  if (bytes >= MAX_FILTER_BYTES) {
    return `filter must be smaller than ${MAX_FILTER_BYTES} bytes, got ${bytes} bytes`;
  }
  const conditions: Condition[] = [];
  for (const [property, value] of entries) {
    if (!isKey(property)) return `invalid filter key "${property}"`;
    const operations: [string, unknown][] = isObject(value)
      ? Object.entries(value)
      : [["$eq", value]];
    if (operations.length === 0) return `empty condition on "${property}"`;
    for (const [operator, operand] of operations) {
      if (!isValidOperand(operator, operand))
        return `invalid condition ${operator} on "${property}"`;
      conditions.push({ property, operator, operand });
    }
  }
  return conditions;
}

/** Tests all conditions. A property without a metadata index matches nothing, not even `$ne`. */
export function matches(conditions: Condition[], facets: Facets): boolean {
  return conditions.every(({ property, operator, operand }) => {
    const value = facets[property];
    return value !== undefined && evaluate(operator, value, operand);
  });
}

/** Returns the scalar at a dotted path of the metadata, or null. */
export function getFacet(metadata: unknown, path: string): Scalar {
  let value = metadata;
  for (const key of path.split(".")) {
    value = Object.entries(isObject(value) ? value : {}).find(([name]) => name === key)?.[1];
  }
  return isScalar(value) ? value : null;
}

function isValidOperand(operator: string, operand: unknown): operand is Scalar | Scalar[] {
  switch (operator) {
    case "$eq":
    case "$ne":
      return isScalar(operand);
    case "$in":
    case "$nin":
      return Array.isArray(operand) && operand.length > 0 && operand.every(isScalar);
    case "$lt":
    case "$lte":
    case "$gt":
    case "$gte":
      return typeof operand === "number" || typeof operand === "string";
    default:
      return false;
  }
}

function evaluate(operator: string, value: Scalar, operand: Scalar | Scalar[]): boolean {
  if (Array.isArray(operand)) return operand.includes(value) === (operator === "$in");
  if (operator === "$eq") return value === operand;
  if (operator === "$ne") return value !== operand;
  const order = compare(value, operand);
  if (order === undefined) return false;
  if (operator === "$lt") return order < 0;
  if (operator === "$lte") return order <= 0;
  return operator === "$gt" ? order > 0 : order >= 0;
}

function compare(value: Scalar, operand: Scalar): number | undefined {
  if (typeof value === "number" && typeof operand === "number") return value - operand;
  if (typeof value !== "string" || typeof operand !== "string") return undefined;
  return Buffer.compare(Buffer.from(value), Buffer.from(operand));
}

function isKey(key: string): boolean {
  return (
    key !== "" && key.length <= MAX_KEY_CHARACTERS && !key.startsWith("$") && !/["|]/.test(key)
  );
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isScalar(value: unknown): value is Scalar {
  return value === null || ["string", "number", "boolean"].includes(typeof value);
}
