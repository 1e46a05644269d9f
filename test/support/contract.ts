import { openApiDocument } from "../../src/app.ts";
import { findSchemaViolation, listOperations, matchesOperation } from "../../tools/openapi.ts";

const document = openApiDocument();

/** All operations of the OpenAPI document. */
export const OPERATIONS = listOperations(document);

/** Throws if a JSON response violates the OpenAPI document. */
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
  const violation = findSchemaViolation(
    operation,
    document.components,
    status,
    await response.clone().json(),
  );
  if (violation !== null) {
    throw new Error(`${method} ${pathname} → ${status} violates the schema:\n${violation}`);
  }
}
