import { OpenAPIHono, z } from "@hono/zod-openapi";
import { LIMITS } from "../config.ts";
import { AppError, ValidationError, type ValidationIssue } from "../errors.ts";
import { authenticate } from "./authenticate.ts";
import type { AppEnv, Context } from "./context.ts";
import { describeEndpoint, type EndpointDescription } from "./describe-endpoint.ts";
import { idempotencyHeaders, runOnce } from "./idempotency.ts";
import { readBody, readJsonBody } from "./json-body.ts";
import { meterRequest } from "./metering.ts";
import { collectFormIssues, isFormRequest } from "./multipart.ts";
import { readQuery, tagNextCursor } from "./query-string.ts";
import { validate } from "./validation.ts";

/**
 * Creates a router that ignores a trailing slash, but `requireExactPath` refuses some. The OpenAPI
 * document groups its operations under `tag`.
 */
export function createRouter(tag = "") {
  return Object.assign(new OpenAPIHono<AppEnv>({ strict: false }), { tag });
}

const emptyObject = z.object({});
type EmptyObject = typeof emptyObject;

/** Contract of one operation. Requests are validated and the OpenAPI document is made from it. */
export interface Endpoint<
  P extends z.ZodObject,
  Q extends z.ZodObject,
  B extends z.ZodObject,
  R extends z.ZodType = z.ZodType,
> extends EndpointDescription {
  params?: P;
  query?: Q;
  body?: B;
  response?: R;
  /**
   * Rules that the schemas can't express, such as which fields exclude each other. They get the
   * request as it was sent, whatever else is wrong with it, unless its body is no JSON object.
   */
  rules?: (c: Context, sent: SentInput) => ValidationIssue[];
}

/** Query parameters and JSON fields as they were sent, of any type. Null counts as absent. */
export interface SentInput {
  query: Record<string, unknown>;
  body: Record<string, unknown>;
}

/** Validated input of a handler, whose endpoint has these schemas. */
export interface Input<
  P extends z.ZodObject = EmptyObject,
  Q extends z.ZodObject = EmptyObject,
  B extends z.ZodObject = EmptyObject,
> {
  params: z.output<P>;
  query: z.output<Q>;
  body: z.output<B>;
}

/**
 * Adds an operation to a router and to its OpenAPI document. The API key is checked before the body
 * is read. Path, query, headers and body are validated together; the response lists every issue.
 */
export function addEndpoint<
  P extends z.ZodObject = EmptyObject,
  Q extends z.ZodObject = EmptyObject,
  B extends z.ZodObject = EmptyObject,
  R extends z.ZodType = z.ZodType,
>(
  router: ReturnType<typeof createRouter>,
  endpoint: Endpoint<P, Q, B, R>,
  handle: (c: Context, input: Input<P, Q, B>) => Promise<z.input<R> | Response>,
): void {
  router.openAPIRegistry.registerPath({ tags: [router.tag], ...describeEndpoint(endpoint) });
  router.on(endpoint.method.toUpperCase(), toHonoPath(endpoint.path), async (c) => {
    requireExactPath(c);
    if (endpoint.scope) {
      const caller = await authenticate(c, endpoint.scope);
      c.set("caller", caller);
      meterRequest(c, caller.accountId);
    }
    const isForm = endpoint.form !== undefined && isFormRequest(c.req.raw);
    const sent = isForm ? withoutBody(endpoint) : endpoint;
    const body = await (sent.body ? readBody(c.req.raw, LIMITS.jsonBytes) : new Uint8Array());
    const respond = async () => {
      const result = await handle(c, await readInput(c, sent, body));
      if (result instanceof Response) return result;
      return jsonResponse(tagNextCursor(c, endpoint.query, result), 200);
    };
    return endpoint.creates ? runOnce(c, endpoint.creates, body, respond) : respond();
  });
}

/** Returns an operation for a request with a form instead of JSON: its handler reads the parts. */
function withoutBody<
  P extends z.ZodObject,
  Q extends z.ZodObject,
  B extends z.ZodObject,
  R extends z.ZodType,
>(endpoint: Endpoint<P, Q, B, R>): Endpoint<P, Q, B, R> {
  const { body: _, ...others } = endpoint;
  const { rules: _rules, ...withoutRules } = others;
  return withoutRules;
}

/**
 * Throws `not_found` for a trailing slash where a resource is changed or deleted. A client that
 * doesn't encode ids sends `/index/a/` for the video `..` of an index.
 */
function requireExactPath(c: Context): void {
  const { pathname } = new URL(c.req.url);
  const isChange = c.req.method === "DELETE" || c.req.method === "PATCH";
  if (isChange && pathname.endsWith("/")) {
    throw new AppError("not_found", `There is nothing at ${pathname}.`);
  }
}

async function readInput<P extends z.ZodObject, Q extends z.ZodObject, B extends z.ZodObject>(
  c: Context,
  endpoint: Endpoint<P, Q, B>,
  bytes: Uint8Array,
): Promise<Input<P, Q, B>> {
  const issues: ValidationIssue[] = [];
  const params = validate("path", endpoint.params ?? emptyObject, c.req.param(), issues);
  const sentQuery = readQuery(c, endpoint.query ?? emptyObject, endpoint.form, issues);
  const query = validate("query", endpoint.query ?? emptyObject, sentQuery, issues);
  const json = endpoint.body
    ? readJsonBody(c, bytes, endpoint.bodyOptional ?? false, issues)
    : { value: {} };
  const body = json && validate("body", endpoint.body ?? emptyObject, json.value, issues);
  if (endpoint.creates) validate("header", idempotencyHeaders, c.req.header(), issues);
  if (endpoint.rules && json) {
    addIssues(issues, endpoint.rules(c, { query: sentQuery, body: json.value }));
  }
  if (issues.length > 0 && endpoint.form) {
    issues.push(
      ...(await collectFormIssues(c.req.raw, endpoint.form, endpoint.query ?? emptyObject)),
    );
  }
  if (issues.length > 0) throw new ValidationError(issues);
  return { params, query, body } as Input<P, Q, B>;
}

/** Adds issues at locations that have none yet. */
function addIssues(issues: ValidationIssue[], more: ValidationIssue[]): void {
  const locations = new Set(issues.map(({ loc }) => JSON.stringify(loc)));
  issues.push(...more.filter(({ loc }) => !locations.has(JSON.stringify(loc))));
}

export function toHonoPath(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, ":$1");
}

export function jsonResponse(body: unknown, status: number): Response {
  return Response.json(body, {
    status,
    headers: { "content-type": "application/json; charset=utf-8" },
  });
}
