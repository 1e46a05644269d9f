import { Validator } from "@cfworker/json-schema";
import { openApiDocument } from "../src/app.ts";

interface Operation {
  responses: Record<string, { content?: Record<string, { schema: object }> }>;
  security?: { ApiKey: string[] }[];
}

const document = openApiDocument();
const paths = document.paths as Record<string, Record<string, Operation>>;

/** Every operation of the contract. */
export const OPERATIONS = Object.entries(paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ method, path, operation })),
);

/** Throws where an answer in JSON is not what the OpenAPI document promises. */
export async function requireContract(
  method: string,
  pathname: string,
  response: Response,
): Promise<void> {
  if (!response.headers.get("content-type")?.startsWith("application/json")) return;
  const found = OPERATIONS.find(
    (each) => each.method === method.toLowerCase() && matches(each.path, pathname),
  );
  if (!found) return;
  const { responses } = found.operation;
  const schema = (responses[response.status] ?? responses["default"])!.content?.[
    "application/json"
  ];
  const validator = new Validator(
    { ...schema!.schema, components: document.components },
    "2020-12",
    false,
  );
  const { valid, errors } = validator.validate(await response.clone().json());
  if (!valid) {
    const text = errors.map((e) => `${e.instanceLocation} ${e.error}`).join("\n");
    throw new Error(`${method} ${pathname} → ${response.status} breaks the contract:\n${text}`);
  }
}

function matches(template: string, pathname: string): boolean {
  const pattern = template.replaceAll(/[.]/g, "\\.").replaceAll(/\{\w+\}/g, "[^/]+");
  return new RegExp(`^${pattern}$`).test(pathname);
}
