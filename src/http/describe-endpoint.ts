import { type OpenAPIHono, z } from "@hono/zod-openapi";
import { type ErrorCode, ERRORS } from "../errors.ts";
import type { Scope } from "../keys.ts";
import { idempotencyHeaders } from "./idempotency.ts";

/** Content of a response that isn't JSON, or of a variant that the client may negotiate. */
interface TextContent {
  /** Schema of the text; of a stream, that of each line or event. */
  schema: z.ZodType;
  /** Default: composed from the examples of the schema's fields. */
  example?: unknown;
}

/** What the OpenAPI document says of an operation. */
export interface EndpointDescription {
  method: "get" | "post" | "patch" | "delete";
  /** Path in OpenAPI's notation: `/index/{index_name}`. */
  path: string;
  /** Name of the function in generated clients: a verb and a noun. */
  operationId: string;
  /** What the operation does, in a few words. */
  summary: string;
  /** What a caller should know before the first call, as Markdown. */
  description: string;
  /** Scope that the API key must have; null needs no key. */
  scope: Scope | null;
  params?: z.ZodObject;
  query?: z.ZodObject;
  /** Schema of a JSON body. */
  body?: z.ZodObject;
  /** JSON bodies by their names. The first one works on any index, and changes little. */
  examples?: Readonly<Record<string, RequestExample>>;
  /** Allows an empty body, which is read as `{}`. */
  bodyOptional?: boolean;
  /** Schema of a multipart body. Documentation only: the handler reads the parts as a stream. */
  form?: z.ZodObject;
  /** Media type of a binary body. Documentation only: the handler reads the stream. */
  binaryMediaType?: string;
  /** Schema of request headers. Documentation only. */
  headers?: z.ZodObject;
  /**
   * Supports `Idempotency-Key`, because the operation creates something. The response with a
   * `secret` is never stored, so it can't be replayed.
   */
  creates?: "record" | "secret";
  /** Schema of a JSON response. */
  response?: z.ZodType;
  /** Status of a response without content (and so without a `response` schema). */
  status?: 201 | 204;
  /** Responses that aren't JSON, by media type. */
  text?: Readonly<Record<string, TextContent>>;
  /** Errors that not every operation of this form has: a sentence about when each occurs. */
  errors?: Partial<Record<ErrorCode, string>>;
}

interface RequestExample {
  summary: string;
  value: Record<string, unknown>;
}

const errorRecord = z
  .object({
    detail: z
      .string()
      .describe("A sentence that says what is wrong and what to do.")
      .openapi({ example: 'There is no index named "holiday".' }),
  })
  .openapi({ description: "Body of every error but 422." });

const validationError = z
  .object({
    detail: z
      .array(
        z.object({
          loc: z
            .array(z.union([z.string(), z.int()]))
            .describe(
              "Where: `path`, `query`, `header` or `body`, then the field, then positions in lists.",
            )
            .openapi({ example: ["body", "top_k"] }),
          msg: z
            .string()
            .describe("What is wrong, in a sentence.")
            .openapi({ example: "Input should be less than or equal to 500" }),
          type: z
            .string()
            .describe("Kind of issue, by pydantic's name.")
            .openapi({ example: "less_than_equal" }),
        }),
      )
      .describe("Every issue of the request, at most 1000 for each part of it."),
  })
  .openapi({ description: "Body of a 422 error, in the format of FastAPI." });

const errorContent = (description: string, detail: string) => ({
  description,
  content: { "application/json": { schema: refTo("schemas", "Error"), example: { detail } } },
});

/** Error responses that many operations have, by their names in `components.responses`. */
const ERROR_RESPONSES = {
  Unauthorized: errorContent(
    "The API key is missing, malformed, expired or revoked.",
    "Send an API key in the header X-API-Key.",
  ),
  Forbidden: errorContent(
    "The API key lacks the scope that the operation needs.",
    'This API key lacks the scope "write".',
  ),
  NotFound: errorContent(
    "What the path or an id names doesn't exist, or belongs to another account.",
    'There is no index named "holiday".',
  ),
  Invalid: {
    description: "The request is invalid. `detail` lists every issue.",
    content: { "application/json": { schema: refTo("schemas", "ValidationError") } },
  },
  TooManyRequests: errorContent(
    "A rate limit or a limit of the day is used up. `Retry-After` says how many seconds to wait.",
    "Too many requests with this API key: at most 600 a minute. Retry in 12 seconds.",
  ),
  ServerError: errorContent(
    "The service (500) or something behind it (502, 503, 504) failed, this deployment isn't " +
      "configured for the request (501), or it is full (507). Retry 502, 503 and 504 later.",
    "Internal error. Report it with the request id 6f1c2c1e-7a58-4c0c-9d5e-0f8a0f1b6c55.",
  ),
} as const;

/** Adds the components to which the operations refer. */
export function registerErrors(registry: OpenAPIHono["openAPIRegistry"]): void {
  registry.register("Error", errorRecord);
  registry.register("ValidationError", validationError);
  for (const [name, response] of Object.entries(ERROR_RESPONSES)) {
    registry.registerComponent("responses", name, response);
  }
}

/** Returns an operation as the OpenAPI registry takes it. */
export function describeEndpoint(endpoint: EndpointDescription) {
  const { body, form, binaryMediaType, params, query, operationId, summary, description } =
    endpoint;
  const headers = endpoint.creates ? idempotencyHeaders : endpoint.headers;
  const bodies = {
    ...(body && {
      "application/json": {
        schema: body,
        ...(endpoint.examples && { examples: endpoint.examples }),
      },
    }),
    ...(form && { "multipart/form-data": { schema: form } }),
    ...(binaryMediaType && {
      [binaryMediaType]: { schema: { type: "string", format: "binary" } as const },
    }),
  };
  return {
    method: endpoint.method,
    path: endpoint.path,
    operationId,
    summary,
    description,
    security: endpoint.scope ? [{ ApiKey: [endpoint.scope] }] : [],
    request: {
      ...(params && { params }),
      ...(query && { query }),
      ...(headers && { headers }),
      ...((body ?? form ?? binaryMediaType) && {
        body: { content: bodies, required: !(endpoint.bodyOptional ?? false) },
      }),
    },
    responses: { ...describeSuccess(endpoint), ...describeErrors(endpoint) },
  };
}

function describeSuccess({ status, response, text = {} }: EndpointDescription) {
  if (status) return { [status]: { description: "Success, without content." } };
  const content = { ...(response && { "application/json": { schema: response } }), ...text };
  return { 200: { description: "Success.", content } };
}

function describeErrors(endpoint: EndpointDescription) {
  const { scope, params, body, form, binaryMediaType, creates } = endpoint;
  const responses: Record<string, object> = {
    ...(scope && { 401: refTo("responses", "Unauthorized"), 403: refTo("responses", "Forbidden") }),
    ...(params && { 404: refTo("responses", "NotFound") }),
    422: refTo("responses", "Invalid"),
    ...(scope && { 429: refTo("responses", "TooManyRequests") }),
    "5XX": refTo("responses", "ServerError"),
  };
  const reasons: [ErrorCode, string][] = Object.entries(endpoint.errors ?? {}) as [];
  if (creates) {
    const earlier =
      creates === "secret" ? "has succeeded: its secret was shown once" : "is still running";
    reasons.push(["conflict", `An earlier request with this \`Idempotency-Key\` ${earlier}.`]);
  }
  if (form) {
    reasons.push(
      ["bad_request", "The form can't be read."],
      ["unsupported_media_type", "The body isn't a form, or the file isn't of this kind."],
    );
  }
  if (body ?? form ?? binaryMediaType) reasons.push(["too_large", "The body is too large."]);
  for (const [code, reason] of reasons) {
    const { status } = ERRORS[code];
    const known = responses[status];
    const description = known && "description" in known ? `${String(known.description)} ` : "";
    responses[status] = errorContent(description + reason, reason);
  }
  return responses;
}

function refTo(kind: "schemas" | "responses", name: string) {
  return { $ref: `#/components/${kind}/${name}` };
}
