import * as fc from "fast-check";
import type { Operation, Schema } from "./document.ts";
import { formBody } from "./forms.ts";
import { brokenJson, headerValue, hostileText, hostileValue } from "./hostile.ts";

/** A request to be sent. `<name>` in it stands for an id of the world that it is sent in. */
export interface Plan {
  method: string;
  /** With its query. */
  path: string;
  headers: Record<string, string>;
  body: string | Uint8Array | null;
}

const METHODS = ["PUT", "PROPFIND", "HEAD", "OPTIONS", "PATCH", "DELETE", "POST", "GET"];
const TYPES = [
  "text/plain",
  "application/json; charset=utf-16",
  "application/vnd.api+json",
  "application/x-www-form-urlencoded",
  "multipart/form-data",
  "multipart/form-data; boundary=",
  "multipart/mixed; boundary=x",
  "application/offset+octet-stream",
  "a/b/c",
  "",
];
const HEADERS = [
  "idempotency-key",
  "range",
  "if-range",
  "if-match",
  "if-none-match",
  "if-modified-since",
  "last-event-id",
  "accept",
  "accept-encoding",
  "content-encoding",
  "origin",
  "x-request-id",
  "x-http-method-override",
  "tus-resumable",
  "upload-length",
  "upload-offset",
  "upload-metadata",
  "upload-checksum",
  "upload-defer-length",
];
/** What deletes or ends a thing of the world leaves the rest of the run without it. */
const SPARED = new Set(["DELETE"]);

/** Requests for an operation: right ones, nearly right ones, and ones that mean harm. */
export function requestsFor(operation: Operation, origin: string): fc.Arbitrary<Plan> {
  return fc
    .record({
      method: mostly(fc.constant(operation.method), fc.constantFrom(...METHODS), 15),
      params: paramsOf(operation),
      query: queryOf(operation, origin),
      headers: headersOf(operation),
      sent: bodyOf(operation, origin),
    })
    .map(({ method, params, query, headers, sent }) => {
      const path = operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => params[name]!);
      const takesNone = ["GET", "HEAD"].includes(method);
      const text = query.map(([name, value]) => `${name}=${value}`).join("&");
      const spares = SPARED.has(method) && method !== operation.method;
      return {
        method: spares ? "PUT" : method,
        path: text === "" ? path : `${path}?${text}`,
        headers: { ...sent.headers, ...headers },
        body: takesNone ? null : sent.body,
      };
    });
}

function mostly<T>(usual: fc.Arbitrary<T>, odd: fc.Arbitrary<T>, times = 4): fc.Arbitrary<T> {
  return fc.oneof({ weight: times, arbitrary: usual }, { weight: 1, arbitrary: odd });
}

function paramsOf({ method, parameters }: Operation): fc.Arbitrary<Record<string, string>> {
  const places = parameters.filter((one) => one.in === "path").map(({ name }) => name);
  const last = places.at(-1);
  const valueOf = (name: string) => {
    const doomed = SPARED.has(method) && name === last;
    const own = fc.constant(doomed ? `<doomed_${name}>` : `<${name}>`);
    return mostly(own, hostileText.filter(Boolean).map(encoded), 6);
  };
  return fc.record(Object.fromEntries(places.map((name) => [name, valueOf(name)])));
}

/** As a URL has it, now and then badly. A dot or two would be another path. */
function encoded(text: string): string {
  const good = encodeURIComponent(text.toWellFormed()).replaceAll(".", "%2E");
  return text.isWellFormed() ? good : `${good}%ff%`;
}

function queryOf(
  { parameters, json }: Operation,
  origin: string,
): fc.Arbitrary<[string, string][]> {
  const given = parameters
    .filter((one) => one.in === "query")
    .map(({ name, schema, required }) => {
      const right = valueFor(name, schema, origin);
      const value = mostly(right, hostileValue, 6).map((one): [string, string][] =>
        [one]
          .flat()
          .slice(0, 3)
          .map((each) => [name, encoded(asText(each))]),
      );
      // What a body can say, too, is mostly left to it.
      const isElsewhere = json?.properties?.[name] !== undefined;
      if (isElsewhere) return mostly(fc.constant<[string, string][]>([]), value, 8);
      return fc.option(value, { nil: [], freq: required ? 20 : 1 });
    });
  const extra = fc.constantFrom<[string, string][]>(
    ...[
      [],
      [],
      [],
      [["__proto__", "1"]],
      [["a", "%ff%"]],
      [
        ["limit", "1"],
        ["limit", "2"],
      ],
    ].map((pairs) => pairs as [string, string][]),
  );
  return fc.tuple(...given, extra).map((lists) => lists.flat());
}

function asText(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "");
}

function headersOf(operation: Operation): fc.Arbitrary<Record<string, string>> {
  const own = operation.parameters.filter((one) => one.in === "header").map(({ name }) => name);
  const odd = fc.tuple(fc.constantFrom(...own, ...HEADERS), headerValue);
  const right = own
    .filter((name) => name in RIGHT)
    .map((name) => fc.option(fc.constantFrom(...RIGHT[name]!), { nil: undefined, freq: 6 }));
  return fc
    .tuple(
      fc.tuple(...right),
      mostly(fc.constant<[string, string][]>([]), fc.array(odd, { maxLength: 4 }), 2),
    )
    .map(([values, others]) => {
      const names = own.filter((name) => name in RIGHT);
      const pairs = names.map((name, i) => [name, values[i]]).filter(([, value]) => value);
      return Object.fromEntries([...pairs, ...others]) as Record<string, string>;
    });
}

/** What a protocol has headers say. */
const RIGHT: Record<string, string[]> = {
  "tus-resumable": ["1.0.0", "1.0.0", "1.0.0", "0.2.2"],
  "upload-length": ["10", "0", "5", "9007199254740992", "-1"],
  "upload-offset": ["0", "5", "10", "1e1"],
  "upload-metadata": [
    "filename YS5qcGc=,filetype aW1hZ2UvanBlZw==",
    "metadata_str e30=",
    "a,a,a",
    "filename ==",
  ],
  "upload-checksum": ["sha1 2jmj7l5rSw0yVb/vlWAYkK/YBwk=", "sha256 x", "crc32 eA=="],
  "x-http-method-override": ["PATCH", "DELETE", "PUT"],
};

interface Sent {
  headers: Record<string, string>;
  body: string | Uint8Array | null;
}

function bodyOf({ json, form, bytes }: Operation, origin: string): fc.Arbitrary<Sent> {
  const none = fc.constant<Sent>({ headers: {}, body: null });
  const odd: fc.Arbitrary<Sent> = fc
    .record({ type: fc.constantFrom(...TYPES, "application/json"), text: hostileText })
    .map(({ type, text }) => ({
      headers: type === "" ? {} : { "content-type": type },
      body: text,
    }));
  if (bytes !== null) {
    const some = fc.constantFrom("", "12345", "1234567890", "12345678901").map((body) => {
      return { headers: { "content-type": bytes }, body };
    });
    return mostly(some, fc.oneof(odd, none), 6);
  }
  if (form) return mostly(formBody(form, fieldFor(origin)), fc.oneof(odd, none), 6);
  if (!json) return mostly(none, odd, 6);
  const headers = { "content-type": "application/json" };
  const right = valueFor("", json, origin).map((value) => JSON.stringify(value));
  const broken = right.chain(brokenJson);
  const any = hostileValue.map((value) => JSON.stringify(value) ?? "");
  const sent = mostly(right, fc.oneof(broken, any), 4).map((body) => ({ headers, body }));
  return mostly(sent, fc.oneof(odd, none), 8);
}

function fieldFor(origin: string) {
  return (name: string, schema: Schema): fc.Arbitrary<string> =>
    mostly(valueFor(name, schema, origin), hostileValue, 3).map(asText);
}

/** What fits a schema; ids of the world, where the name is one of an id. */
function valueFor(name: string, schema: Schema, origin: string): fc.Arbitrary<unknown> {
  const { minimum = -1000, maximum = 1000, minLength = 0, maxLength = 40 } = schema;
  if (schema.enum) return fc.constantFrom(...schema.enum);
  switch ([schema.type].flat()[0]) {
    case "integer":
      return fc.integer({ min: minimum, max: maximum });
    case "number":
      return fc.double({ min: minimum, max: maximum, noNaN: true });
    case "boolean":
      return fc.boolean();
    case "array":
      return fc.array(valueFor(name, schema.items ?? { type: "string" }, origin), { maxLength: 4 });
    case "string":
      return textFor(name, schema, origin, minLength, Math.min(maxLength, 300));
    default:
      return objectFor(schema, origin);
  }
}

function textFor(
  name: string,
  { format, pattern }: Schema,
  origin: string,
  least: number,
  most: number,
) {
  const own = IDS[name];
  if (own) return fc.constantFrom(...own);
  if (format === "json")
    return fc.dictionary(hostileText, hostileValue).map((v) => JSON.stringify(v));
  if (format === "uri" || name.endsWith("url")) {
    return fc.constantFrom(`${origin}/nothing`, `${origin}/%00/../x?a=b#c`, "https://a.invalid/x");
  }
  if (format === "email") return fc.constantFrom("a@b.example");
  if (format === "date-time") return fc.constantFrom("2036-01-01T00:00:00Z");
  if (pattern !== undefined) return fc.constantFrom("en", "pt-BR", `made-${least}`, "a.b_c-1");
  const words = fc.constantFrom("lantern", "words", '"a b" -c', "Wie heißt das?", "犬");
  return fc.oneof(words, fc.string({ unit: "grapheme", minLength: least, maxLength: most }));
}

const IDS: Record<string, string[]> = {
  asset_ids: ["<image_id>", "<video_id>"],
  similar_to: ["<segment>", "<image_id>"],
  segments: ["<segment>"],
  cursor: ["<cursor>"],
};

function objectFor(schema: Schema, origin: string): fc.Arbitrary<unknown> {
  if (!schema.properties) return fc.dictionary(hostileText, hostileValue, { maxKeys: 4 });
  const fields = Object.entries(schema.properties).map(([name, property]) => {
    const value = mostly(valueFor(name, property, origin), hostileValue, 6);
    const isNeeded = schema.required?.includes(name) || name === "query";
    return fc.option(value, { nil: undefined, freq: isNeeded ? 20 : 1 }).map((one) => [name, one]);
  });
  const extra = fc.option(fc.tuple(hostileText, hostileValue), { nil: ["a", 1], freq: 1 });
  return fc.tuple(...fields, extra).map((pairs) => Object.fromEntries(pairs) as unknown);
}
