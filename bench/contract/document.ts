import { Validator } from "@cfworker/json-schema";

/** The parts of JSON Schema that the OpenAPI document uses for what is sent. */
export interface Schema {
  type?: string | string[];
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: unknown;
  items?: Schema;
  enum?: string[];
  format?: string;
  pattern?: string;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  minItems?: number;
  maxItems?: number;
}

export interface Parameter {
  name: string;
  in: "path" | "query" | "header";
  required?: boolean;
  schema: Schema;
}

interface Declared {
  parameters?: Parameter[];
  requestBody?: { required?: boolean; content: Record<string, { schema: Schema }> };
  responses: Record<string, { content?: Record<string, { schema: object }> }>;
  security?: { ApiKey: string[] }[];
}

export interface OpenApi {
  paths?: object;
  components?: object;
}

/** An operation of the OpenAPI document. */
export interface Operation {
  /** In capitals. */
  method: string;
  /** `/index/{index_name}` */
  path: string;
  /** What its key must be good for; null needs no key. */
  scope: string | null;
  parameters: Parameter[];
  json: Schema | null;
  form: Schema | null;
  /** The media type of a body that is neither. */
  bytes: string | null;
  bodyRequired: boolean;
  responses: Declared["responses"];
}

const READ = new Set(["application/json", "multipart/form-data"]);

export function listOperations({ paths = {} }: OpenApi): Operation[] {
  return Object.entries(paths as Record<string, Record<string, Declared>>).flatMap(
    ([path, methods]) =>
      Object.entries(methods).map(([method, declared]) => toOperation(method, path, declared)),
  );
}

function toOperation(method: string, path: string, declared: Declared): Operation {
  const { parameters = [], requestBody, responses, security } = declared;
  return {
    method: method.toUpperCase(),
    path,
    scope: security?.[0]?.ApiKey[0] ?? null,
    parameters,
    json: requestBody?.content["application/json"]?.schema ?? null,
    form: requestBody?.content["multipart/form-data"]?.schema ?? null,
    bytes: Object.keys(requestBody?.content ?? {}).find((type) => !READ.has(type)) ?? null,
    bodyRequired: requestBody?.required ?? false,
    responses,
  };
}

export function matches({ path }: Operation, pathname: string): boolean {
  const pattern = path.replaceAll(".", "\\.").replaceAll(/\{\w+\}/g, "[^/]+");
  return new RegExp(`^${pattern}$`).test(pathname);
}

/** In what an answer in JSON is not as the document promises; null where it is. */
export function breach(
  operation: Operation,
  components: object | undefined,
  status: number,
  body: unknown,
): string | null {
  const { responses } = operation;
  const declared = responses[status] ?? responses["default"];
  const schema = declared?.content?.["application/json"]?.schema;
  if (!schema) return `${status} isn't declared`;
  const validator = new Validator({ ...schema, components }, "2020-12", false);
  const { valid, errors } = validator.validate(body);
  return valid ? null : errors.map((e) => `${e.instanceLocation} ${e.error}`).join("\n");
}
