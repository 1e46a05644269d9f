import { Client as McpClient, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { exports } from "cloudflare:workers";
import { EventSourceParserStream } from "eventsource-parser/stream";
import type { Client, Json } from "./client.ts";

const URL_OF_MCP = new URL("https://sightline.test/mcp");

/** Connects the official MCP client with an API key. `mode` selects the protocol revisions. */
export async function connect(
  { key }: Client,
  mode: "legacy" | "auto" = "auto",
): Promise<McpClient> {
  const mcp = new McpClient(
    { name: "test", version: "1.0.0" },
    { versionNegotiation: { mode }, capabilities: {} },
  );
  const transport = new StreamableHTTPClientTransport(URL_OF_MCP, {
    fetch: (url, init) => exports.default.fetch(new Request(url, init)),
    requestInit: { headers: { authorization: `Bearer ${key}` } },
  });
  await mcp.connect(transport);
  return mcp;
}

interface Sent {
  body: string;
  method?: string;
  headers?: Record<string, string>;
}

/** Sends a raw HTTP request to /mcp. */
export function post({ key }: Client, { body, method = "POST", headers }: Sent): Promise<Response> {
  return exports.default.fetch(
    new Request(URL_OF_MCP, {
      method,
      headers: {
        accept: "application/json, text/event-stream",
        "content-type": "application/json",
        ...(key !== "" && { "x-api-key": key }),
        ...headers,
      },
      ...(method === "POST" && { body }),
    }),
  );
}

/** Sends a JSON-RPC message, and returns the status and the message of the response. */
export async function rpc(
  client: Client,
  message: object,
  headers?: Record<string, string>,
): Promise<{ status: number; message: Json }> {
  const body = JSON.stringify({ jsonrpc: "2.0", ...message });
  const response = await post(client, { body, ...(headers && { headers }) });
  return { status: response.status, message: await messageOf(response) };
}

/** Reads the message of a response, which is JSON or a server-sent event. */
export async function messageOf(response: Response): Promise<Json> {
  if (!response.headers.get("content-type")?.startsWith("text/event-stream")) {
    const text = await response.text();
    return text === "" ? null : JSON.parse(text);
  }
  const events = response
    .body!.pipeThrough(new TextDecoderStream())
    .pipeThrough(new EventSourceParserStream());
  for await (const { data } of events) return JSON.parse(data);
  throw new Error("the response has no message");
}
