import { beforeAll, describe, expect, it } from "vitest";
import type { Operation, Schema } from "../../tools/openapi.ts";
import { type Call, type Client, fixture, type Json, newClient } from "../support/client.ts";
import { OPERATIONS } from "../support/contract.ts";
import {
  type InvalidValue,
  invalidParameters,
  invalidTexts,
  invalidJsonValues,
} from "../support/invalid-values.ts";

/** The field whose text may have any characters. */
const QUERY_FIELD = "query";

interface Issue {
  loc: (string | number)[];
  msg: string;
  type: string;
}

/** A field of a request and its invalid values. */
interface Field {
  part: "path" | "query" | "header" | "body";
  /** Undefined for the body itself. */
  name?: string;
  invalidValues: InvalidValue[];
}

/** Part of a video that the index hasn't. */
const MOMENT = { asset_id: "vid_00000000000000000000000000", start_seconds: 0, end_seconds: 1 };

const SEGMENT = { segment_id: `seg_${"0".repeat(26)}` };

/** Bodies of operations that require one of several optional fields. */
const REQUIRED_BODIES: Record<string, object> = {
  "POST /search": { index_names: ["a"], query: "x" },
  "POST /index/{index_name}/search": { query: "x" },
  "POST /index/{index_name}/judgments": {
    query: "x",
    segment_id: `seg_${"0".repeat(26)}`,
    relevant: true,
  },
  "POST /index/{index_name}/videonet/url": { url: "https://a.example/film" },
  "POST /index/{index_name}/videonet/playlist": { url: "https://a.example/c/boats" },
  "POST /index/{index_name}/videonet/search": { query: "boats", platform: "peertube" },
  "POST /index/{index_name}/photonet/profile": { username: "boats@a.example" },
  "POST /index/{index_name}/watches": { name: "x", query: "x" },
  "POST /index/{index_name}/watches/preview": { query: "x" },
  "POST /index/{index_name}/edl": { moments: [MOMENT] },
  "POST /index/{index_name}/exports": { format: "edl", segments: [SEGMENT] },
  "POST /exports": { index_names: ["a"], format: "edl", segments: [SEGMENT] },
};
/** Valid files of forms. */
const FILES: Record<string, string> = { video_file: "clip.mp4", image_file: "words.jpg" };
/** Fields that accept any text, or whose protocol (tus) defines other errors. */
const ANY_TEXT =
  /^(transcript|transcript_encoding|last-event-id|tus-.+|upload-.+|x-http-method-override)$/;

const INVALID_BODIES: InvalidValue[] = [[], "x", 7, null].map((value) => {
  return { value, type: "dict_type", msg: "Input should be an object" };
});

const AUTHENTICATED = OPERATIONS.filter(({ scope }) => scope !== null).map((operation) => ({
  name: `${operation.method} ${operation.path}`,
  operation,
  fields: listFields(operation),
}));

let client: Client;
let files: Record<string, File>;

beforeAll(async () => {
  client = await newClient(["read", "write", "admin", "operator"]);
  await client.json("POST", "/index", { json: { index_name: "a" } });
  const read = Object.entries(FILES).map(async ([name, file]) => [name, await fixture(file)]);
  const transcript = new File(["Hello there."], "words.txt");
  files = { transcript, ...Object.fromEntries(await Promise.all(read)) };
});

describe.each(AUTHENTICATED.filter(({ fields }) => fields.length > 0))("$name", (each) => {
  const { operation, fields } = each;

  it("returns FastAPI's issue for each invalid value of each field", async () => {
    for (const field of fields) {
      for (const invalid of field.invalidValues) {
        // the search of an export needs a query, too; its other fields are those of a search
        const { value } = invalid;
        const lacksQuery = typeof value === "object" && value !== null && !("query" in value);
        if (field.name === "search" && lacksQuery) continue;
        const issues = await requestIssues(operation, [{ ...field, invalidValues: [invalid] }]);
        expect({ value: invalid.value, issues }).toEqual({
          value: invalid.value,
          issues: [toIssue(field, invalid)],
        });
      }
    }
  });

  it("returns the issues of all fields at once", async () => {
    const named = fields.filter(
      ({ name, invalidValues }) => name !== undefined && invalidValues.length > 0,
    );
    const issues = await requestIssues(operation, named);
    const expected = named.map((field) => toIssue(field, field.invalidValues[0]!));
    expect(issues.toSorted(byLocation)).toEqual(expected.toSorted(byLocation));
  });
});

describe.each(AUTHENTICATED.filter(({ operation }) => operation.json))("$name", ({ operation }) => {
  it("returns the byte offset of a JSON syntax error in the body", async () => {
    const headers = { "content-type": "application/json" };
    const text = '{"é": [1, 2}';
    const { detail } = await send(operation, [], { body: text, headers });
    expect(detail).toEqual([
      {
        loc: ["body", 12],
        msg: "JSON decode error at byte 12: it is not JSON",
        type: "json_invalid",
      },
    ]);
  });
});

const BODY_REQUIRED = AUTHENTICATED.filter(
  ({ operation }) => operation.json && operation.bodyRequired,
);

it.each(BODY_REQUIRED)("$name returns 422 without its required body", async ({ operation }) => {
  expect((await send(operation, [], {})).detail).toEqual([
    { loc: ["body"], msg: "Field required", type: "missing" },
  ]);
});

it("every field in the OpenAPI document has an invalid value, except those that accept any text", () => {
  const uncovered = AUTHENTICATED.flatMap(({ fields }) => fields)
    .filter(({ invalidValues }) => invalidValues.length === 0)
    .map(({ name }) => name);
  expect(uncovered.filter((name) => !ANY_TEXT.test(name ?? ""))).toEqual([]);
  const withoutFields = AUTHENTICATED.filter(({ fields }) => fields.length === 0);
  expect(withoutFields.map(({ name }) => name)).toEqual(["GET /stats"]);
});

function listFields({ parameters, json, form }: Operation): Field[] {
  const fields: Field[] = parameters.map((parameter) => ({
    part: parameter.in,
    name: parameter.name,
    invalidValues: invalidParameters(parameter),
  }));
  for (const parameter of parameters) {
    if (parameter.name !== "cursor") continue;
    const msg =
      "The cursor is invalid: pass the next_cursor of the previous page, " +
      "with the same query and filters";
    fields.find(({ name }) => name === "cursor")!.invalidValues = ["!", "YWJj", "a\0b"].map(
      (value) => ({ value, type: "value_error", msg }),
    );
  }
  if (json) fields.push({ part: "body", invalidValues: INVALID_BODIES });
  for (const [name, schema] of Object.entries(json?.properties ?? {})) {
    fields.push({
      part: "body",
      name,
      invalidValues: [
        ...invalidJsonValues(schema, json!.required?.includes(name) ?? false),
        ...missingValue(json!, name),
      ],
    });
  }
  for (const [name, schema] of Object.entries(form?.properties ?? {})) {
    if (fields.some((field) => field.name === name)) continue; // it may be sent in the query, too
    fields.push({
      part: "body",
      name,
      invalidValues: [...invalidPart(name, schema), ...missingValue(form!, name)],
    });
  }
  return fields.map((field) => (field.name === QUERY_FIELD ? dropNul(field) : field));
}

function missingValue({ required = [] }: Schema, name: string): InvalidValue[] {
  if (!required.includes(name) || ANY_TEXT.test(name)) return [];
  return [{ value: undefined, type: "missing", msg: "Field required" }];
}

function dropNul(field: Field): Field {
  return { ...field, invalidValues: field.invalidValues.filter(({ value }) => value !== "a\0b") };
}

function invalidPart(name: string, schema: Schema): InvalidValue[] {
  if (ANY_TEXT.test(name)) return [];
  if (schema.format !== "binary") return invalidTexts(schema);
  const msg = "Expected a file, got text: name a file, with curl as -F name=@path";
  return [{ value: "x", type: "value_error", msg }];
}

function toIssue({ part, name }: Field, { at = [], msg, type }: InvalidValue): Issue {
  return { loc: [part, ...(name === undefined ? [] : [name]), ...at], msg, type };
}

function byLocation(a: Issue, b: Issue): number {
  return JSON.stringify(a) < JSON.stringify(b) ? -1 : 1;
}

async function requestIssues(operation: Operation, fields: Field[]): Promise<Issue[]> {
  const { status, detail } = await send(operation, fields, null);
  if (status !== 422) throw new Error(`${status} to ${JSON.stringify(fields)}`);
  return detail;
}

/** Sends a valid request, except for the first invalid value of each given field. */
async function send(
  operation: Operation,
  fields: Field[],
  call: Call | null,
): Promise<{ status: number; detail: Json }> {
  const { method, path, parameters } = operation;
  const invalidAt = (part: string, name?: string) =>
    fields.find((field) => field.part === part && field.name === name)?.invalidValues[0];
  const valueOf = (part: string, name: string, valid: unknown) => {
    const invalid = invalidAt(part, name);
    return invalid ? invalid.value : valid;
  };
  const query = new URLSearchParams();
  const headers: Record<string, string> = {};
  let target = path;
  for (const { name, in: part, required } of parameters) {
    const valid =
      part === "path" ? (name === "index_name" ? "a" : "x") : required ? "x" : undefined;
    const value = valueOf(part, name, valid);
    if (value === undefined) continue;
    if (part === "path") target = target.replace(`{${name}}`, encodeURIComponent(toText(value)));
    else if (part === "header") headers[name] = toText(value);
    else for (const item of [value].flat()) query.append(name, toText(item));
  }
  const body = call ?? makeBody(operation, valueOf, invalidAt("body"));
  const url = `${target}?${query.toString()}`;
  const sent = await client.send(method, url, {
    ...body,
    headers: { ...headers, ...body.headers },
  });
  const { detail }: Json = await sent.json();
  return { status: sent.status, detail };
}

function makeBody(
  { method, path, json, form }: Operation,
  valueOf: (part: string, name: string, valid: unknown) => unknown,
  whole: InvalidValue | undefined,
): Call {
  if (whole) return { json: whole.value };
  const requiredBody = REQUIRED_BODIES[`${method} ${path}`] ?? {};
  if (json) {
    const names = Object.keys(json.properties ?? {});
    // an export has either
    const isSearch = names.includes("search") && valueOf("body", "search", undefined) !== undefined;
    const fields = names.map((name) => {
      if (isSearch && name === "segments") return [name, valueOf("body", name, undefined)];
      const required = json.required?.includes(name) ? "x" : undefined;
      const valid = Reflect.get(requiredBody, name) ?? required;
      return [name, valueOf("body", name, valid)];
    });
    return { json: Object.fromEntries(fields) };
  }
  if (!form) return {};
  const parts = Object.keys(form.properties ?? {}).flatMap((name) => {
    const valid = files[name];
    const value = valueOf("body", name, valid);
    return value === undefined ? [] : [[name, value instanceof Blob ? value : toText(value)]];
  });
  return { form: Object.fromEntries(parts) as Record<string, string | Blob> };
}

function toText(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
