import { Validator } from "@cfworker/json-schema";

/** Keywords of JSON Schema that the OpenAPI document uses for requests. */
export interface Schema {
  type?: string | string[];
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: unknown;
  items?: Schema;
  enum?: string[];
  example?: unknown;
  format?: string;
  pattern?: string;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  minItems?: number;
  maxItems?: number;
}

export interface OperationParameter {
  name: string;
  in: "path" | "query" | "header";
  required?: boolean;
  schema: Schema;
}

interface DeclaredResponse {
  $ref?: string;
  content?: Record<string, { schema: object }>;
}

interface DeclaredOperation {
  parameters?: OperationParameter[];
  requestBody?: { required?: boolean; content: Record<string, { schema: Schema }> };
  responses: Record<string, DeclaredResponse>;
  security?: { ApiKey: string[] }[];
}

export interface OpenApi {
  paths?: object;
  components?: object;
}

/** An operation of the OpenAPI document. */
export interface Operation {
  /** Method in upper case. */
  method: string;
  /** Path template, such as `/index/{index_name}`. */
  path: string;
  /** Scope that the API key needs; null if no key is needed. */
  scope: string | null;
  parameters: OperationParameter[];
  json: Schema | null;
  form: Schema | null;
  /** Media type of a body that is neither JSON nor a form. */
  bytes: string | null;
  bodyRequired: boolean;
  responses: DeclaredOperation["responses"];
}

const STRUCTURED_TYPES = new Set(["application/json", "multipart/form-data"]);

/** Lists all operations of a document. */
export function listOperations({ paths = {} }: OpenApi): Operation[] {
  return Object.entries(paths as Record<string, Record<string, DeclaredOperation>>).flatMap(
    ([path, methods]) =>
      Object.entries(methods).map(([method, declared]) => toOperation(method, path, declared)),
  );
}

function toOperation(method: string, path: string, declared: DeclaredOperation): Operation {
  const { parameters = [], requestBody, responses, security } = declared;
  const json = requestBody?.content["application/json"]?.schema ?? null;
  return {
    method: method.toUpperCase(),
    path,
    scope: security?.[0]?.ApiKey[0] ?? null,
    parameters,
    json,
    form: json ? null : (requestBody?.content["multipart/form-data"]?.schema ?? null),
    bytes:
      Object.keys(requestBody?.content ?? {}).find((type) => !STRUCTURED_TYPES.has(type)) ?? null,
    bodyRequired: requestBody?.required ?? false,
    responses,
  };
}

/** Patterns of paths by their template. */
const patterns = new Map<string, RegExp>();

/** Returns whether a path matches the template of an operation. */
export function matchesOperation({ path }: Operation, pathname: string): boolean {
  const pattern = patterns.get(path) ?? toPattern(path);
  patterns.set(path, pattern);
  return pattern.test(pathname);
}

function toPattern(path: string): RegExp {
  return new RegExp(`^${path.replaceAll(".", "\\.").replaceAll(/\{\w+\}/g, "[^/]+")}$`);
}

/** Returns how a JSON response differs from the document; null if it conforms. */
export function findSchemaViolation(
  operation: Operation,
  components: object | undefined,
  status: number,
  body: unknown,
): string | null {
  const { responses } = operation;
  const declared = responses[status] ?? (status >= 500 ? responses["5XX"] : undefined);
  const schema = resolveResponse(declared, components)?.content?.["application/json"]?.schema;
  if (!schema) return `${status} isn't declared`;
  const { valid, errors } = validatorOf(schema, components).validate(body);
  return valid ? null : errors.map((e) => `${e.instanceLocation} ${e.error}`).join("\n");
}

/** Validators by schema: to make one takes longer than to use it. */
const validators = new WeakMap<object, Validator>();

function validatorOf(schema: object, components: object | undefined): Validator {
  const known = validators.get(schema);
  if (known) return known;
  const validator = new Validator({ ...schema, components }, "2020-12", false);
  validators.set(schema, validator);
  return validator;
}

/** Returns the response that a reference names, or the response itself. */
function resolveResponse(
  declared: DeclaredResponse | undefined,
  components: { responses?: Record<string, DeclaredResponse> } = {},
): DeclaredResponse | undefined {
  if (declared?.$ref === undefined) return declared;
  return components.responses?.[declared.$ref.split("/").at(-1)!];
}
