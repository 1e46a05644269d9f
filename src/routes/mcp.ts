import { LIMITS } from "../config.ts";
import type { ValidationIssue } from "../errors.ts";
import { authenticate, letIn } from "./authenticate.ts";
import { type Context, createRouter, readBytes } from "./endpoint.ts";
import { readJsonText } from "./json-text.ts";
import type { Ask } from "./mcp-tools.ts";

/** Of JSON-RPC 2.0, section 5.1. */
const PARSE_ERROR = -32_700;
const INVALID_REQUEST = -32_600;

/** For browsers of other origins. */
export const MCP_REQUEST_HEADERS = [
  "Authorization",
  "Mcp-Method",
  "Mcp-Name",
  "Mcp-Protocol-Version",
  "Mcp-Session-Id",
];

/**
 * The Model Context Protocol over streamable HTTP, without sessions: revision 2026-07-28 and those before
 * (https://modelcontextprotocol.io/specification). It describes itself, and is not part of the JSON contract. The
 * tools ask our own operations, by `dispatch`: what they do counts as this one request.
 */
export function mcpRoutes(dispatch: (request: Request, c: Context) => Promise<Response>) {
  const routes = createRouter();
  routes.use("/mcp", async (c, next) => {
    await next();
    if (c.res.status === 401) c.header("WWW-Authenticate", "Bearer, ApiKey");
  });
  routes.post("/mcp", async (c) => {
    const caller = await authenticate(c, "read", c.req.header("x-api-key") ?? bearerOf(c));
    const json = readJsonText(await readBytes(c.req.raw, LIMITS.jsonBytes));
    if (!("value" in json)) return refuse(PARSE_ERROR, `Byte ${json.byte}: ${json.why}`);
    if (Array.isArray(json.value)) return refuse(INVALID_REQUEST, "Send one message a request.");
    const send = async ({ path, query = {}, body }: Ask) => {
      const request = requestOf(c, path, query, body);
      letIn(request, caller);
      const response = await dispatch(request, c);
      const answer: unknown = await response.json();
      return response.ok ? { record: answer } : { detail: toSentence(answer as Refusal) };
    };
    const { serve } = await import("./mcp-server.ts"); // is large: not for every isolate's start
    const response = await serve(c.req.raw, json.value, send);
    response.headers.delete("Cache-Control"); // ours is stricter
    return response;
  });
  return routes;
}

/** RFC 6750: what most clients can be told to send. */
function bearerOf(c: Context): string | undefined {
  return /^Bearer +(\S+)$/i.exec(c.req.header("authorization") ?? "")?.[1];
}

function requestOf(c: Context, path: string, query: object, body: object | undefined): Request {
  const url = new URL(path, c.req.url);
  for (const [name, value] of Object.entries(query)) {
    for (const one of [value].flat()) url.searchParams.append(name, String(one));
  }
  const headers = new Headers({ "X-Request-Id": c.get("requestId") });
  if (!body) return new Request(url, { headers });
  headers.set("Content-Type", "application/json");
  return new Request(url, { method: "POST", headers, body: JSON.stringify(body) });
}

interface Refusal {
  detail: string | ValidationIssue[];
}

function toSentence({ detail }: Refusal): string {
  if (typeof detail === "string") return detail;
  return detail.map(({ loc, msg }) => `${loc.slice(1).join(".")}: ${msg}`).join("\n");
}

function refuse(code: number, message: string): Response {
  return Response.json({ jsonrpc: "2.0", error: { code, message }, id: null }, { status: 400 });
}
