import type { OpenAPIRegistry } from "@asteasolutions/zod-to-openapi";
import { type ErrorCode, ERRORS } from "../../src/errors.ts";
import type { EndpointDescription, Operation } from "../../src/http/endpoint.ts";
import { idempotencyHeaders } from "../../src/http/idempotency.ts";
import * as z from "../../src/http/zod.ts";

const sentence = (description: string, example: unknown) =>
  z.string().describe(description).openapi({ example });

const errorRecord = z
  .object({
    detail: sentence(
      "A sentence that says what is wrong and what to do.",
      'There is no index named "holiday".',
    ),
  })
  .openapi({ description: "Body of every error but 422." });

const validationIssue = z.object({
  loc: z
    .array(z.union([z.string(), z.int()]))
    .describe("Where: `path`, `query`, `header` or `body`, then the field and positions in lists.")
    .openapi({ example: ["body", "top_k"] }),
  msg: sentence("What is wrong, in a sentence.", "Input should be less than or equal to 500"),
  type: sentence("Kind of issue, by pydantic's name.", "less_than_equal"),
});

const validationError = z
  .object({
    detail: z
      .array(validationIssue)
      .describe("Every issue of the request, at most 1000 for each part of it."),
  })
  .openapi({ description: "Body of a 422 error, in the format of FastAPI." });

const errorContent = (description: string) => {
  const schema = refTo("schemas", "ErrorBody");
  return { description, content: { "application/json": { schema } } };
};

/** Error responses that many operations have, by their names in `components.responses`. */
const ERROR_RESPONSES = {
  Unauthorized: errorContent("The API key is missing, malformed, expired or revoked."),
  Forbidden: errorContent("The API key lacks the scope that the operation needs."),
  AccountFull: errorContent(
    "The account's storage or its bytes of records are used up (docs/limits.md).",
  ),
  NotFound: errorContent(
    "What the path or an id names doesn't exist, or belongs to another account.",
  ),
  TooLarge: errorContent("The body is too large."),
  Invalid: {
    description: "The request is invalid. `detail` lists every issue.",
    content: { "application/json": { schema: refTo("schemas", "ValidationError") } },
  },
  TooManyRequests: errorContent(
    "A rate limit or a limit of the day is used up. `Retry-After` says how many seconds to wait.",
  ),
  ServerError: errorContent(
    "The service (500) or something behind it (502, 503, 504) failed, this deployment isn't " +
      "configured for the request (501), or it is full (507). Retry 502, 503 and 504 later.",
  ),
} as const;

export function registerErrors(registry: OpenAPIRegistry): void {
  registry.register("ErrorBody", errorRecord);
  registry.register("ValidationError", validationError);
  for (const [name, response] of Object.entries(ERROR_RESPONSES)) {
    registry.registerComponent("responses", name, response);
  }
}

/** Returns an operation as the OpenAPI registry takes it, in the group of a tag. */
export function describeEndpoint(endpoint: Operation, tag: string) {
  const { method, path, operationId, summary, description } = endpoint;
  const { scope, params, query, body, form, examples, binaryMediaType: binary } = endpoint;
  const { formExample: example } = endpoint;
  const headers = endpoint.creates ? idempotencyHeaders : endpoint.headers;
  const content = {
    ...(body && {
      "application/json": { schema: body, ...(examples && { examples: toExamples(examples) }) },
    }),
    ...(form && { "multipart/form-data": { schema: form, ...(example && { example }) } }),
    ...(binary && { [binary]: { schema: { type: "string", format: "binary" } as const } }),
  };
  const required = !(endpoint.bodyOptional ?? false);
  return {
    tags: [tag],
    method,
    path,
    operationId,
    summary,
    description,
    security: scope ? [{ ApiKey: [scope] }] : [],
    request: {
      ...(hasParams(params) && { params }),
      ...(query && { query }),
      ...(headers && { headers }),
      ...(Object.keys(content).length > 0 && { body: { content, required } }),
    },
    responses: { ...describeSuccess(endpoint), ...describeErrors(endpoint) },
  };
}

/** Returns examples as OpenAPI has them: by names without spaces. */
function toExamples(examples: Readonly<Record<string, object>>) {
  const named = Object.entries(examples).map(([summary, value]) => {
    return [summary.toLowerCase().replaceAll(/\W+/g, "_"), { summary, value }] as const;
  });
  return Object.fromEntries(named);
}

function describeSuccess({ status, response, text = {} }: EndpointDescription) {
  if (status) return { [status]: { description: "Success, without content." } };
  const content = { ...(response && { "application/json": { schema: response } }), ...text };
  return { 200: { description: "Success.", content } };
}

function describeErrors({ scope, params, form, creates, errors, ...endpoint }: Operation) {
  const adds = scope === "write" && (endpoint.method === "post" || endpoint.method === "patch");
  const responses: Record<string, object> = {
    ...(adds && { 402: refTo("responses", "AccountFull") }),
    ...(scope && { 401: refTo("responses", "Unauthorized"), 403: refTo("responses", "Forbidden") }),
    ...(hasParams(params) && { 404: refTo("responses", "NotFound") }),
    ...((form ?? endpoint.body ?? endpoint.binaryMediaType) && {
      413: refTo("responses", "TooLarge"),
    }),
    422: refTo("responses", "Invalid"),
    ...(scope && { 429: refTo("responses", "TooManyRequests") }),
    "5XX": refTo("responses", "ServerError"),
  };
  const earlier =
    creates === "secret" ? "has succeeded: its secret was shown once" : "is still running";
  const reasons: Partial<Record<ErrorCode, string>>[] = [
    errors ?? {},
    creates ? { conflict: `An earlier request with this \`Idempotency-Key\` ${earlier}.` } : {},
    form ? FORM_ERRORS : {},
  ];
  for (const [code, reason] of reasons.flatMap((one) => Object.entries(one))) {
    const { status } = ERRORS[code as ErrorCode];
    const known = responses[status];
    const description = known && "description" in known ? `${String(known.description)} ` : "";
    responses[status] = errorContent(description + reason);
  }
  return responses;
}

const FORM_ERRORS = {
  bad_request: "The form can't be read.",
  unsupported_media_type: "The body isn't a form, or the file isn't of this kind.",
};

function hasParams({ shape }: z.ZodObject): boolean {
  return Object.keys(shape).length > 0;
}

function refTo(kind: "schemas" | "responses", name: string) {
  return { $ref: `#/components/${kind}/${name}` };
}
