import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { listOperations, matchesOperation, type OpenApi } from "../../tools/openapi.ts";

/** Text that terminals, file systems and spreadsheets obey: OSC 52, CSI in C1, a path, formulas. */
const HOSTILE =
  "\u001B]52;c;aGk=\u0007\u009B31m\u0085\u202E../../../../escaped/x;=1+1\r\n=cmd|'/c calc'!A1\u001B[2J";

interface SampleSchema {
  $ref?: string;
  type?: string | string[];
  enum?: unknown[];
  const?: unknown;
  format?: string;
  anyOf?: SampleSchema[];
  oneOf?: SampleSchema[];
  allOf?: SampleSchema[];
  properties?: Record<string, SampleSchema>;
  additionalProperties?: unknown;
  items?: SampleSchema;
}

const SETTLED = new Set<unknown>(["ready", "succeeded"]);

/** Makes a value of a schema, in which every free text is hostile. */
function sampleOf(schema: SampleSchema, components: Record<string, SampleSchema>): unknown {
  const sample = (part: SampleSchema) => sampleOf(part, components);
  if (schema.$ref !== undefined) return sample(components[schema.$ref.split("/").at(-1)!]!);
  if (schema.allOf) return Object.assign({}, ...schema.allOf.map(sample)) as unknown;
  const [variant] = schema.anyOf ?? schema.oneOf ?? [];
  if (variant) return sample(variant);
  if (schema.const !== undefined) return schema.const;
  if (schema.enum) return schema.enum.find((value) => SETTLED.has(value)) ?? schema.enum[0];
  switch ([schema.type].flat()[0]) {
    case "string":
      return schema.format === "date-time" ? "2026-11-25T00:00:00.000Z" : HOSTILE;
    case "integer":
    case "number":
      return 1;
    case "boolean":
      return true;
    case "array":
      return [sample(schema.items ?? {})];
    case undefined:
      return HOSTILE;
    default: {
      const fields = Object.entries(schema.properties ?? {}).map(([name, field]) => {
        return [name, name === "next_cursor" ? null : sample(field)];
      });
      return { ...Object.fromEntries(fields), ...(fields.length === 0 && { [HOSTILE]: HOSTILE }) };
    }
  }
}

/** Starts a service whose responses conform to the document, and are hostile. */
export async function startHostileService(document: OpenApi, failsWith: number | null = null) {
  const operations = listOperations(document);
  const { schemas } = document.components as { schemas: Record<string, SampleSchema> };
  const server = createServer((request, response) => {
    const url = new URL(request.url!, "http://a.example");
    const operation = operations.find(
      (one) => one.method === request.method && matchesOperation(one, url.pathname),
    );
    request.resume();
    const send = (type: string, body: string, status = 200) => {
      response.writeHead(status, { "content-type": type, "x-request-id": "\u009B31m" }).end(body);
    };
    if (failsWith !== null) {
      return send(
        "application/json",
        JSON.stringify({ detail: HOSTILE, code: HOSTILE }),
        failsWith,
      );
    }
    const content = (operation?.responses["200"]?.content ?? {}) as Record<
      string,
      { schema: SampleSchema }
    >;
    const json = content["application/json"];
    const record = json ? sampleOf(json.schema, schemas) : null;
    if (url.pathname.endsWith("/events")) {
      if (request.headers["last-event-id"]) return send("application/json", "{}", 404);
      const event = { ...(sampleOf(schemas["Event"]!, schemas) as object), type: "watch.matched" };
      return send("text/event-stream", `id: evt_1\ndata: ${JSON.stringify(event)}\n\n`);
    }
    if (/event-stream/.test(request.headers.accept ?? "") || url.searchParams.has("stream")) {
      const events = [
        ["citations", (record as { citations?: unknown }).citations ?? []],
        ["delta", { text: HOSTILE }],
        ["done", record],
      ] as const;
      const text = events.map(
        ([event, data]) => `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`,
      );
      return send("text/event-stream", text.join(""));
    }
    const isText = !json || url.searchParams.has("format");
    return isText ? send("text/plain", HOSTILE) : send("application/json", JSON.stringify(record));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const close = () => new Promise<void>((resolve) => void server.close(() => resolve()));
  return { url: `http://127.0.0.1:${port}`, close: () => (server.closeAllConnections(), close()) };
}
