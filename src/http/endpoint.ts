import { Hono } from "hono";
import { LIMITS } from "../config.ts";
import { AppError, type ErrorCode, ValidationError, type ValidationIssue } from "../errors.ts";
import type { Scope } from "../keys.ts";
import { append } from "../lists.ts";
import { authenticate } from "./authenticate.ts";
import { type AppEnv, type Context, meterRequest } from "./context.ts";
import { pathParams } from "./fields.ts";
import { idempotencyHeaders, runOnce } from "./idempotency.ts";
import { collectFormIssues, isFormRequest } from "./multipart.ts";
import { unknownFieldIssues, updateIssues } from "./near-names.ts";
import { readQuery, tagNextCursor } from "./pagination.ts";
import { readBody, readJsonBody, validate } from "./validation.ts";
import * as z from "./zod.ts";

/** Content of a response that isn't JSON, or of a variant that the client may negotiate. */
interface TextContent {
  /** Schema of the text; of a stream, that of each line or event. */
  schema: z.ZodType;
  example?: unknown;
}

/** Method and path of an operation, in OpenAPI's notation: `GET /index/{index_name}`. */
export type Route = `${"GET" | "POST" | "PATCH" | "DELETE"} /${string}`;

/** What the OpenAPI document says of an operation. */
export interface EndpointDescription {
  /** Name of the function in generated clients: a verb and a noun. */
  operationId: string;
  /** What the operation does, in a few words. */
  summary: string;
  /** What a caller should know before the first call, as Markdown. */
  description: string;
  /** Scope that the API key must have; null needs no key. Default: `read` for GET, else `write`. */
  scope?: Scope | null;
  query?: z.ZodObject;
  body?: z.ZodObject;
  /** JSON bodies by what they do. The first one works on any index, and changes little. */
  examples?: Readonly<Record<string, object>>;
  /** Allows an empty body, which is read as `{}`. */
  bodyOptional?: boolean;
  /** Schema of a multipart body. Documentation only: the handler reads the parts as a stream. */
  form?: z.ZodObject;
  /** Parts of a multipart body; of a file, its name. */
  formExample?: Readonly<Record<string, unknown>>;
  /** Media type of a binary body. Documentation only: the handler reads the stream. */
  binaryMediaType?: string;
  /** Schema of request headers. Documentation only. */
  headers?: z.ZodObject;
  /**
   * Supports `Idempotency-Key`, because the operation creates something. The response with a
   * `secret` is never stored, so it can't be replayed.
   */
  creates?: "record" | "secret";
  response?: z.ZodType;
  /** Status of a response without content (and so without a `response` schema). */
  status?: 201 | 204;
  /** Responses that aren't JSON, by media type. */
  text?: Readonly<Record<string, TextContent>>;
  /** Errors that not every operation of this form has: a sentence about when each occurs. */
  errors?: Partial<Record<ErrorCode, string>>;
}

export interface Operation extends EndpointDescription {
  method: "get" | "post" | "patch" | "delete";
  path: string;
  params: z.ZodObject;
  scope: Scope | null;
}

/**
 * Creates a router that ignores a trailing slash, but `requireExactPath` refuses some. The OpenAPI
 * document groups its operations under `tag`.
 */
export function createRouter(tag = "") {
  const endpoints: Operation[] = [];
  return Object.assign(new Hono<AppEnv>({ strict: false }), { tag, endpoints });
}

const emptyObject = z.object({});
type EmptyObject = typeof emptyObject;

/** Contract of one operation. Requests are validated and the OpenAPI document is made from it. */
interface Endpoint<
  Path extends string,
  Q extends z.ZodObject,
  B extends z.ZodObject,
  R extends z.ZodType = z.ZodType,
> extends EndpointDescription {
  query?: Q;
  body?: B;
  response?: R;
  /**
   * Rules that the schemas can't express, such as which fields exclude each other. They get the
   * request as it was sent, whatever else is wrong with it, unless its body is no JSON object.
   */
  rules?: (c: Context, sent: SentInput) => ValidationIssue[];
  handle: (c: Context, input: Input<Path, Q, B>) => Promise<z.input<R> | Response>;
}

/** Query parameters and JSON fields as they were sent, of any type. Null counts as absent. */
export interface SentInput {
  query: Record<string, unknown>;
  body: Record<string, unknown>;
}

type ParamName<Path> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | ParamName<Rest>
  : never;

interface Input<Path extends string, Q extends z.ZodObject, B extends z.ZodObject> {
  params: Record<ParamName<Path>, string>;
  query: z.output<Q>;
  body: z.output<B>;
}

/**
 * Adds an operation to a router, and to its `endpoints`. The API key is checked before the body
 * is read. Path, query, headers and body are validated together; the response lists every issue.
 */
export function addEndpoint<
  const Path extends Route,
  Q extends z.ZodObject = EmptyObject,
  B extends z.ZodObject = EmptyObject,
  R extends z.ZodType = z.ZodType,
>(
  router: ReturnType<typeof createRouter>,
  route: Path,
  endpoint: Endpoint<NoInfer<Path>, Q, B, R>,
): void {
  const [verb = "", path = ""] = route.split(" ");
  const { scope = verb === "GET" ? "read" : "write" } = endpoint;
  const params = pathParams(path);
  const method = verb.toLowerCase() as Operation["method"];
  router.endpoints.push({ ...endpoint, method, path, params, scope });
  router.on(verb, path.replaceAll(/\{(\w+)\}/g, ":$1"), async (c) => {
    requireExactPath(c);
    if (scope) {
      const caller = await authenticate(c, scope);
      c.set("caller", caller);
      meterRequest(c, caller.accountId);
    }
    const isForm = endpoint.form !== undefined && isFormRequest(c.req.raw);
    const hasJson = endpoint.body !== undefined && !isForm; // the handler reads a form's parts
    const body = await (hasJson ? readBody(c.req.raw, LIMITS.jsonBytes) : new Uint8Array());
    const respond = async () => {
      const input = await readInput(c, { ...endpoint, params }, hasJson ? body : null);
      const result = await endpoint.handle(c, input);
      if (result instanceof Response) return result;
      return jsonResponse(tagNextCursor(c, endpoint.query, result), 200);
    };
    return endpoint.creates ? runOnce(c, endpoint.creates, body, respond) : respond();
  });
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

/** Validates a request. `bytes` are its JSON; null without any, such as that of a form. */
async function readInput<Path extends string, Q extends z.ZodObject, B extends z.ZodObject>(
  c: Context,
  endpoint: Endpoint<Path, Q, B> & Pick<Operation, "params">,
  bytes: Uint8Array | null,
): Promise<Input<Path, Q, B>> {
  const { bodyOptional = false, form, creates, rules, ...schemas } = endpoint;
  const issues: ValidationIssue[] = [];
  const { query: querySchema = emptyObject } = schemas;
  const params = validate("path", schemas.params, c.req.param(), issues);
  const sentQuery = readQuery(c, querySchema, issues);
  const query = validate("query", querySchema, sentQuery, issues);
  const other =
    bytes && schemas.body
      ? { schema: schemas.body, place: "in the JSON body" }
      : { schema: form, place: "as a part of the form" };
  append(issues, unknownFieldIssues(querySchema, sentQuery, ["query"], other));
  const json = bytes ? readJsonBody(c, bytes, bodyOptional, issues) : { value: {} };
  const bodySchema = (bytes && schemas.body) ?? emptyObject;
  const body = json && validate("body", bodySchema, json.value, issues);
  if (json) append(issues, unknownFieldIssues(bodySchema, json.value));
  if (json && c.req.method === "PATCH") append(issues, updateIssues(bodySchema, json.value));
  if (creates) validate("header", idempotencyHeaders, c.req.header(), issues);
  if (rules && json && (bytes || !schemas.body)) {
    const locations = new Set(issues.map(({ loc }) => JSON.stringify(loc)));
    const broken = rules(c, { query: sentQuery, body: json.value });
    append(
      issues,
      broken.filter(({ loc }) => !locations.has(JSON.stringify(loc))),
    );
  }
  if (issues.length > 0 && form) {
    append(issues, await collectFormIssues(c.req.raw, form, querySchema));
  }
  if (issues.length > 0) throw new ValidationError(issues);
  return { params, query, body } as Input<Path, Q, B>;
}

export function jsonResponse(body: unknown, status: number, headers?: Record<string, string>) {
  const type = { "content-type": "application/json; charset=utf-8" };
  return Response.json(body, { status, headers: { ...type, ...headers } });
}
