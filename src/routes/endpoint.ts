import { OpenAPIHono, z } from "@hono/zod-openapi";
import type { Context as HonoContext } from "hono";
import { LIMITS } from "../config.ts";
import { AppError, invalid, ValidationError, type ValidationIssue } from "../errors.ts";
import type { Scope } from "../keys.ts";
import type { Caller } from "../types.ts";
import { authenticate } from "./authenticate.ts";
import { formIssues } from "./form-fields.ts";
import { idempotencyHeaders, once } from "./idempotency.ts";
import { MESSAGES } from "./pydantic.ts";
import { check, parseJson } from "./validation.ts";

export interface AppEnv {
  Bindings: Env;
  Variables: { requestId: string; caller: Caller };
}
export type Context = HonoContext<AppEnv>;

/** A router whose operations the document groups under `tag`. */
export function createRouter(tag = "") {
  return Object.assign(new OpenAPIHono<AppEnv>(), { tag });
}

const nothing = z.object({});
type Nothing = typeof nothing;

/** One operation of the API: the contract that the OpenAPI document shows and requests are held to. */
export interface Endpoint<
  P extends z.ZodObject,
  Q extends z.ZodObject,
  B extends z.ZodObject,
  R extends z.ZodType = z.ZodType,
> {
  method: "get" | "post" | "patch" | "delete";
  /** In OpenAPI's notation: `/index/{index_name}`. */
  path: string;
  summary: string;
  /** What the key must be good for; null needs none. */
  scope: Scope | null;
  params?: P;
  query?: Q;
  /** A JSON body. */
  body?: B;
  /** Whether the body may be left out; then it is read as `{}`. */
  bodyOptional?: boolean;
  /** Parts of a multipart body, for the document: the handler reads them as a stream. */
  form?: z.ZodObject;
  /** The media type of a body that is neither, likewise. */
  bytes?: string;
  /** For the document, too. */
  headers?: z.ZodObject;
  /** It adds something, and understands `Idempotency-Key`; `secret`: its answer is to be given only once. */
  adds?: "record" | "secret";
  response?: R;
  /** Of an answer that has no content, and so no `response`. */
  status?: 201 | 204;
  /** Other media types in which the answer may be asked for. */
  texts?: readonly string[];
  /** The answer is server-sent events, and `response` the data of each. */
  isStream?: boolean;
}

export interface Input<P extends z.ZodType, Q extends z.ZodType, B extends z.ZodType> {
  params: z.output<P>;
  query: z.output<Q>;
  body: z.output<B>;
}

/**
 * Adds an operation to a router and to its OpenAPI document. The key is checked before anything is
 * read; then all parts of the request are, and every broken rule is reported at once.
 */
export function addEndpoint<
  P extends z.ZodObject = Nothing,
  Q extends z.ZodObject = Nothing,
  B extends z.ZodObject = Nothing,
  R extends z.ZodType = z.ZodType,
>(
  router: ReturnType<typeof createRouter>,
  endpoint: Endpoint<P, Q, B, R>,
  handle: (c: Context, input: Input<P, Q, B>) => Promise<z.input<R> | Response>,
): void {
  router.openAPIRegistry.registerPath({ tags: [router.tag], ...describeEndpoint(endpoint) });
  router.on(endpoint.method.toUpperCase(), honoPath(endpoint.path), async (c) => {
    if (endpoint.scope) c.set("caller", await authenticate(c, endpoint.scope));
    const body = await (endpoint.body ? readBytes(c.req.raw, LIMITS.jsonBytes) : new Uint8Array());
    const act = async () => {
      const result = await handle(c, await readInput(c, endpoint, body));
      return result instanceof Response ? result : json(result, 200);
    };
    return endpoint.adds ? once(c, endpoint.adds, body, act) : act();
  });
}

async function readInput<P extends z.ZodObject, Q extends z.ZodObject, B extends z.ZodObject>(
  c: Context,
  endpoint: Endpoint<P, Q, B>,
  bytes: Uint8Array,
): Promise<Input<P, Q, B>> {
  const issues: ValidationIssue[] = [];
  const params = check("path", endpoint.params ?? nothing, c.req.param(), issues);
  const query = check("query", endpoint.query ?? nothing, flat(c.req.queries()), issues);
  const json = endpoint.body
    ? readJson(c, bytes, endpoint.bodyOptional ?? false, issues)
    : { value: {} };
  const body = json && check("body", endpoint.body ?? nothing, json.value, issues);
  if (endpoint.adds) check("header", idempotencyHeaders, c.req.header(), issues);
  if (issues.length > 0 && endpoint.form) {
    issues.push(...(await formIssues(c.req.raw, endpoint.form)));
  }
  if (issues.length > 0) throw new ValidationError(issues);
  return { params, query, body } as Input<P, Q, B>;
}

function readJson(c: Context, bytes: Uint8Array, optional: boolean, issues: ValidationIssue[]) {
  const type = c.req.header("content-type") ?? "application/json";
  try {
    if (bytes.length === 0) {
      if (optional) return { value: {} };
      throw invalid(["body"], "missing", "Field required");
    }
    if (!/^application\/([\w.-]+\+)?json\b/i.test(type)) {
      throw invalid(["body"], "dict_type", MESSAGES.dict_type);
    }
    return { value: parseJson(bytes) };
  } catch (error) {
    if (!(error instanceof ValidationError)) throw error;
    issues.push(...error.issues);
    return undefined;
  }
}

/** The body. Throws `too_large` past `maxBytes`, without reading on. */
export async function readBytes(request: Request, maxBytes: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of request.body ?? []) {
    bytes += chunk.length;
    if (bytes > maxBytes) {
      throw new AppError("too_large", `The body is larger than the limit of ${maxBytes} bytes.`);
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function flat(queries: Record<string, string[]>): Record<string, string | string[]> {
  return Object.fromEntries(
    Object.entries(queries).map(([name, values]) => [
      name,
      values.length === 1 ? values[0]! : values,
    ]),
  );
}

export function honoPath(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, ":$1");
}

export function json(body: unknown, status: number): Response {
  return Response.json(body, {
    status,
    headers: { "content-type": "application/json; charset=utf-8" },
  });
}

const detail = z.object({ detail: z.string() }).openapi("Error");
const validationError = z
  .object({
    detail: z.array(
      z.object({
        loc: z.array(z.union([z.string(), z.int()])),
        msg: z.string(),
        type: z.string(),
      }),
    ),
  })
  .openapi("ValidationError");

const content = (schema: z.ZodType, description: string, texts: readonly string[] = []) => ({
  description,
  content: {
    "application/json": { schema },
    ...Object.fromEntries(texts.map((type) => [type, { schema: z.string() }])),
  },
});

function describeEndpoint(endpoint: Endpoint<z.ZodObject, z.ZodObject, z.ZodObject>) {
  const { body, form, bytes, params, query, response = z.unknown(), texts = [] } = endpoint;
  const headers = endpoint.adds ? idempotencyHeaders : endpoint.headers;
  const bodies = {
    ...(body && { "application/json": { schema: body } }),
    ...(form && { "multipart/form-data": { schema: form } }),
    ...(bytes && { [bytes]: { schema: { type: "string", format: "binary" } as const } }),
  };
  return {
    method: endpoint.method,
    path: endpoint.path,
    summary: endpoint.summary,
    ...(endpoint.scope && { security: [{ ApiKey: [endpoint.scope] }] }),
    request: {
      ...(params && { params }),
      ...(query && { query }),
      ...(headers && { headers }),
      ...((body ?? form ?? bytes) && {
        body: { content: bodies, required: !(endpoint.bodyOptional ?? false) },
      }),
    },
    responses: {
      [endpoint.status ?? 200]: endpoint.status
        ? { description: "Done." }
        : endpoint.isStream
          ? { description: "Events.", content: { "text/event-stream": { schema: response } } }
          : content(response, "Done.", texts),
      422: content(
        validationError,
        "The request breaks rules of the contract: all of them are listed.",
      ),
      default: content(detail, "What is wrong, and what to do."),
    },
  };
}
