import * as fc from "fast-check";
import type { Operation, Schema } from "../../tools/openapi.ts";
import { arbitraryForm } from "./forms.ts";
import { brokenJson, headerValue, malformedText, malformedValue } from "./malformed.ts";

/**
 * A generated request. `<name>` in path or body is a placeholder for an id of the seeded account.
 */
export interface PlannedRequest {
  method: string;
  /** Path with query string. */
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
];
/** Methods that are sent to their own operations only: seeded records must survive the run. */
const DESTRUCTIVE_METHODS = new Set(["DELETE"]);

/** Generates requests for an operation: valid ones, nearly valid ones, and hostile ones. */
export function arbitraryRequest(
  operation: Operation,
  origin: string,
): fc.Arbitrary<PlannedRequest> {
  return fc
    .record({
      method: mostly(fc.constant(operation.method), fc.constantFrom(...METHODS), 15),
      params: arbitraryParams(operation),
      query: arbitraryQuery(operation, origin),
      headers: arbitraryHeaders(operation),
      sent: arbitraryBody(operation, origin),
    })
    .map(({ method, params, query, headers, sent }) => {
      const path = operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => params[name]!);
      const hasNoBody = ["GET", "HEAD"].includes(method);
      const text = query.map(([name, value]) => `${name}=${value}`).join("&");
      const isReplaced = DESTRUCTIVE_METHODS.has(method) && method !== operation.method;
      return {
        method: isReplaced ? "PUT" : method,
        path: text === "" ? path : `${path}?${text}`,
        headers: { ...sent.headers, ...headers },
        body: hasNoBody ? null : sent.body,
      };
    });
}

function mostly<T>(usual: fc.Arbitrary<T>, odd: fc.Arbitrary<T>, times = 4): fc.Arbitrary<T> {
  return fc.oneof({ weight: times, arbitrary: usual }, { weight: 1, arbitrary: odd });
}

function arbitraryParams({ method, parameters }: Operation): fc.Arbitrary<Record<string, string>> {
  const names = parameters.filter((one) => one.in === "path").map(({ name }) => name);
  const last = names.at(-1);
  const valueOf = (name: string) => {
    const isDestructive = DESTRUCTIVE_METHODS.has(method) && name === last;
    const seededId = fc.constant(isDestructive ? `<doomed_${name}>` : `<${name}>`);
    return mostly(seededId, malformedText.filter(Boolean).map(percentEncode), 6);
  };
  return fc.record(Object.fromEntries(names.map((name) => [name, valueOf(name)])));
}

/**
 * Percent-encodes text, sometimes wrongly. Dots are encoded, since "." and ".." would change the
 * path.
 */
function percentEncode(text: string): string {
  const good = encodeURIComponent(text.toWellFormed()).replaceAll(".", "%2E");
  return text.isWellFormed() ? good : `${good}%ff%`;
}

function arbitraryQuery(
  { parameters, json }: Operation,
  origin: string,
): fc.Arbitrary<[string, string][]> {
  const given = parameters
    .filter((one) => one.in === "query")
    .map(({ name, schema, required }) => {
      const right = arbitraryValue(name, schema, origin);
      const value = mostly(right, malformedValue, 6).map((one): [string, string][] =>
        [one]
          .flat()
          .slice(0, 3)
          .map((each) => [name, percentEncode(toText(each))]),
      );
      // A field that the body has too is mostly left to the body.
      const isInBody = json?.properties?.[name] !== undefined;
      if (isInBody) return mostly(fc.constant<[string, string][]>([]), value, 8);
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

function toText(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "");
}

function arbitraryHeaders(operation: Operation): fc.Arbitrary<Record<string, string>> {
  const headerNames = operation.parameters
    .filter((one) => one.in === "header")
    .map(({ name }) => name);
  const odd = fc.tuple(fc.constantFrom(...headerNames, ...HEADERS), headerValue);
  const right = headerNames
    .filter((name) => name in HEADER_VALUES)
    .map((name) =>
      fc.option(fc.constantFrom(...HEADER_VALUES[name]!), { nil: undefined, freq: 6 }),
    );
  return fc
    .tuple(
      fc.tuple(...right),
      mostly(fc.constant<[string, string][]>([]), fc.array(odd, { maxLength: 4 }), 2),
    )
    .map(([values, others]) => {
      const names = headerNames.filter((name) => name in HEADER_VALUES);
      const pairs = names.map((name, i) => [name, values[i]]).filter(([, value]) => value);
      return Object.fromEntries([...pairs, ...others]) as Record<string, string>;
    });
}

/** Valid and nearly valid values of headers that a protocol defines. */
const HEADER_VALUES: Record<string, string[]> = {
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

interface GeneratedBody {
  headers: Record<string, string>;
  body: string | Uint8Array | null;
}

function arbitraryBody(
  { json, form, bytes }: Operation,
  origin: string,
): fc.Arbitrary<GeneratedBody> {
  const none = fc.constant<GeneratedBody>({ headers: {}, body: null });
  const odd: fc.Arbitrary<GeneratedBody> = fc
    .record({ type: fc.constantFrom(...TYPES, "application/json"), text: malformedText })
    .map(({ type, text }) => ({
      headers: type === "" ? {} : { "content-type": type },
      body: text,
    }));
  if (bytes !== null) {
    const bytesBody = fc.constantFrom("", "12345", "1234567890", "12345678901").map((body) => {
      return { headers: { "content-type": bytes }, body };
    });
    return mostly(bytesBody, fc.oneof(odd, none), 6);
  }
  if (form) return mostly(arbitraryForm(form, arbitraryField(origin)), fc.oneof(odd, none), 6);
  if (!json) return mostly(none, odd, 6);
  const headers = { "content-type": "application/json" };
  const right = arbitraryValue("", json, origin).map((value) => JSON.stringify(value));
  const broken = right.chain(brokenJson);
  const any = malformedValue.map((value) => JSON.stringify(value) ?? "");
  const sent = mostly(right, fc.oneof(broken, any), 4).map((body) => ({ headers, body }));
  return mostly(sent, fc.oneof(odd, none), 8);
}

function arbitraryField(origin: string) {
  return (name: string, schema: Schema): fc.Arbitrary<string> =>
    mostly(arbitraryValue(name, schema, origin), malformedValue, 3).map(toText);
}

/** Generates values that match a schema; fields with the name of an id get seeded ids. */
function arbitraryValue(name: string, schema: Schema, origin: string): fc.Arbitrary<unknown> {
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
      return fc.array(arbitraryValue(name, schema.items ?? { type: "string" }, origin), {
        maxLength: 4,
      });
    case "string":
      return arbitraryText(name, schema, origin, minLength, Math.min(maxLength, 300));
    default:
      return arbitraryObject(schema, origin);
  }
}

function arbitraryText(
  name: string,
  { format, pattern }: Schema,
  origin: string,
  minLength: number,
  maxLength: number,
) {
  const seededId = SEEDED_IDS[name];
  if (seededId) return fc.constantFrom(...seededId);
  if (format === "json")
    return fc.dictionary(malformedText, malformedValue).map((v) => JSON.stringify(v));
  if (format === "uri" || name.endsWith("url")) {
    return fc.constantFrom(`${origin}/nothing`, `${origin}/%00/../x?a=b#c`, "https://a.invalid/x");
  }
  if (format === "email") return fc.constantFrom("a@b.example");
  if (format === "date-time") return fc.constantFrom("2036-01-01T00:00:00Z");
  if (pattern !== undefined) return fc.constantFrom("en", "pt-BR", `made-${minLength}`, "a.b_c-1");
  const words = fc.constantFrom("lantern", "words", '"a b" -c', "Wie heißt das?", "犬");
  return fc.oneof(words, fc.string({ unit: "grapheme", minLength, maxLength }));
}

const SEEDED_IDS: Record<string, string[]> = {
  asset_ids: ["<image_id>", "<video_id>"],
  similar_to: ["<segment>", "<image_id>"],
  segments: ["<segment>"],
  cursor: ["<cursor>"],
};

function arbitraryObject(schema: Schema, origin: string): fc.Arbitrary<unknown> {
  if (!schema.properties) return fc.dictionary(malformedText, malformedValue, { maxKeys: 4 });
  const fields = Object.entries(schema.properties).map(([name, property]) => {
    const value = mostly(arbitraryValue(name, property, origin), malformedValue, 6);
    const isRequired = schema.required?.includes(name) || name === "query";
    return fc
      .option(value, { nil: undefined, freq: isRequired ? 20 : 1 })
      .map((one) => [name, one]);
  });
  const extra = fc.option(fc.tuple(malformedText, malformedValue), { nil: ["a", 1], freq: 1 });
  return fc.tuple(...fields, extra).map((pairs) => Object.fromEntries(pairs) as unknown);
}
