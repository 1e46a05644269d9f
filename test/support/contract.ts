import document from "../../openapi.json" with { type: "json" };
import { findSchemaViolation, listOperations, matchesOperation } from "../../tools/openapi.ts";

/** All operations of the OpenAPI document. */
export const OPERATIONS = listOperations(document);

/** What a message says where a value is missing. */
const MISSING_VALUE = /\bundefined\b|\[object /;

/**
 * Throws if a JSON response violates the OpenAPI document, or if the message of an error lacks a
 * value.
 */
export async function requireContract(
  method: string,
  pathname: string,
  response: Response,
): Promise<void> {
  if (!response.headers.get("content-type")?.startsWith("application/json")) return;
  const operation = OPERATIONS.find(
    (candidate) => candidate.method === method && matchesOperation(candidate, pathname),
  );
  if (!operation) return;
  const { status } = response;
  const body: unknown = await response.clone().json();
  const violation = findSchemaViolation(operation, document.components, status, body);
  if (violation !== null) {
    throw new Error(`${method} ${pathname} → ${status} violates the schema:\n${violation}`);
  }
  if (status >= 400 && MISSING_VALUE.test(JSON.stringify(body))) {
    throw new Error(`${method} ${pathname} → ${status} lacks a value: ${JSON.stringify(body)}`);
  }
}
