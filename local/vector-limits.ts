import { parseFilter, type Condition } from "./vector-filter.ts";

const MAX_VECTORS = 1000;
const MAX_NAME_BYTES = 64;
const MAX_METADATA_BYTES = 10 * 1024;
const MAX_TOP_K = 100;
const MAX_TOP_K_FULL = 50;
const DEFAULT_TOP_K = 5;
/** Undocumented limits, measured at the service (error 40007). */
const MAX_IDS = { VECTOR_GET: 20, VECTOR_DELETE: 100 };

export type Operation =
  | "INDEX_GET"
  | "VECTOR_QUERY"
  | "VECTOR_INSERT"
  | "VECTOR_UPSERT"
  | "VECTOR_GET"
  | "VECTOR_DELETE";

/** `values` has no trailing zeros, `metadata` is JSON, a missing namespace is `""`. */
export interface StoredVector {
  id: string;
  namespace: string;
  values: Float32Array;
  metadata: string | null;
}

export interface QueryPlan {
  topK: number;
  namespace: string | undefined;
  returnValues: boolean;
  returnMetadata: VectorizeMetadataRetrievalLevel;
  conditions: Condition[];
}

/** Makes an error as the binding throws it, with the service's code if that is known. */
export function vectorizeError(operation: Operation, message: string, code?: number): Error {
  return new Error(
    `${operation}_ERROR${code === undefined ? "" : ` (code = ${code})`}: ${message}`,
  );
}

/** Returns vectors without trailing zeros, ready to be stored. Throws Vectorize's errors. */
export function checkVectors(
  operation: "VECTOR_INSERT" | "VECTOR_UPSERT",
  vectors: VectorizeVector[],
  dimensions: number,
): StoredVector[] {
  if (vectors.length === 0 || vectors.length > MAX_VECTORS) {
    throw vectorizeError(
      operation,
      `a batch holds 1 to ${MAX_VECTORS} vectors, got ${vectors.length}`,
    );
  }
  return vectors.map(({ id, values, namespace, metadata }) => {
    checkName(operation, "id", id, 40008);
    if (namespace !== undefined) checkName(operation, "namespace", namespace, 40009);
    if (values.length !== dimensions) {
      throw vectorizeError(
        operation,
        `invalid vector for id="${id}", expected ${dimensions} dimensions, and got ${values.length} dimensions`,
        40012,
      );
    }
    const numbers = Float32Array.from(values);
    if (!numbers.every(Number.isFinite)) throw unreadable(operation);
    return {
      id,
      namespace: namespace ?? "",
      values: trimTrailingZeros(numbers),
      metadata: metadata === undefined ? null : checkMetadata(operation, id, metadata),
    };
  });
}

export function checkIds(operation: "VECTOR_GET" | "VECTOR_DELETE", ids: string[]): string[] {
  const max = MAX_IDS[operation];
  if (ids.length > max) {
    throw vectorizeError(
      operation,
      `too many ids in payload; max id count is ${max}, got ${ids.length}`,
      40007,
    );
  }
  for (const id of ids) checkName(operation, "id", id, 40008);
  return ids;
}

/** Returns the query vector without its trailing zeros. Throws Vectorize's errors. */
export function checkQueryVector(vector: ArrayLike<number>, dimensions: number): Float32Array {
  if (vector.length !== dimensions) {
    throw vectorizeError(
      "VECTOR_QUERY",
      `invalid query vector, expected ${dimensions} dimensions, and got ${vector.length} dimensions`,
      40006,
    );
  }
  const numbers = Float32Array.from(vector);
  if (!numbers.every(Number.isFinite)) throw unreadable("VECTOR_QUERY");
  return trimTrailingZeros(numbers);
}

/**
 * Returns a query's options with defaults. `returnMetadata: false` throws although the types allow
 * it: the binding sends it unchanged, and the service accepts only strings (error 40026).
 */
export function checkQuery(options: VectorizeQueryOptions = {}): QueryPlan {
  const { topK = DEFAULT_TOP_K, namespace, returnValues = false, filter } = options;
  const returnMetadata =
    options.returnMetadata === true ? "all" : (options.returnMetadata ?? "none");
  if (returnMetadata === false || !["none", "indexed", "all"].includes(returnMetadata)) {
    throw vectorizeError(
      "VECTOR_QUERY",
      "Failed to parse the request body as JSON: returnMetadata: expected value",
      40026,
    );
  }
  const isFull = returnValues || returnMetadata === "all";
  const max = isFull ? MAX_TOP_K_FULL : MAX_TOP_K;
  if (!Number.isInteger(topK) || topK < 1 || topK > max) {
    const [prefix, suffix] = isFull
      ? [
          "with returnValues=true or returnMetadata=all, ",
          "; for a top K up to 100, retry with returnValues=false and returnMetadata=indexed",
        ]
      : ["", ""];
    throw vectorizeError(
      "VECTOR_QUERY",
      `${prefix}max top K is ${max}, but got ${topK}${suffix}`,
      40025,
    );
  }
  if (namespace !== undefined) checkName("VECTOR_QUERY", "namespace", namespace, 40009);
  const conditions = filter === undefined ? [] : parseFilter(filter);
  if (typeof conditions === "string") throw vectorizeError("VECTOR_QUERY", conditions);
  return { topK, namespace, returnValues, returnMetadata, conditions };
}

function checkName(operation: Operation, what: string, name: string, code: number): void {
  if (typeof name !== "string" || !name.isWellFormed()) throw unreadable(operation);
  const bytes = Buffer.byteLength(name);
  if (bytes > MAX_NAME_BYTES) {
    throw vectorizeError(
      operation,
      `${what} too long; max is ${MAX_NAME_BYTES} bytes, got ${bytes} bytes`,
      code,
    );
  }
  if (bytes === 0) throw vectorizeError(operation, `${what} is empty`);
}

function checkMetadata(operation: Operation, id: string, metadata: object): string {
  for (const key of Object.keys(metadata)) {
    if (key === "" || key.startsWith("$") || /[."]/.test(key)) {
      throw vectorizeError(operation, `invalid metadata key "${key}" for id="${id}"`);
    }
  }
  const text = JSON.stringify(metadata, (_, value: unknown) => {
    if (typeof value === "string" && !value.isWellFormed()) throw unreadable(operation);
    return value;
  });
  const bytes = Buffer.byteLength(text);
  if (bytes > MAX_METADATA_BYTES) {
    throw vectorizeError(
      operation,
      `metadata too large for id="${id}"; max is ${MAX_METADATA_BYTES} bytes, got ${bytes} bytes`,
    );
  }
  return text;
}

function unreadable(operation: Operation): Error {
  const verb = operation.slice("VECTOR_".length).toLowerCase();
  return vectorizeError(operation, `failed to parse ${verb} vectors request in json format`, 40023);
}

function trimTrailingZeros(values: Float32Array): Float32Array {
  return values.slice(0, values.findLastIndex((value) => value !== 0) + 1);
}
