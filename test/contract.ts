import { breach, listOperations, matches } from "../bench/contract/document.ts";
import { openApiDocument } from "../src/app.ts";

const document = openApiDocument();

/** Every operation of the contract. */
export const OPERATIONS = listOperations(document);

/** Throws where an answer in JSON is not what the OpenAPI document promises. */
export async function requireContract(
  method: string,
  pathname: string,
  response: Response,
): Promise<void> {
  if (!response.headers.get("content-type")?.startsWith("application/json")) return;
  const operation = OPERATIONS.find((each) => each.method === method && matches(each, pathname));
  if (!operation) return;
  const { status } = response;
  const problem = breach(operation, document.components, status, await response.clone().json());
  if (problem !== null) {
    throw new Error(`${method} ${pathname} → ${status} breaks the contract:\n${problem}`);
  }
}
