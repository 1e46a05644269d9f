import { beforeAll, describe, expect, it } from "vitest";
import type { Operation, Schema } from "../bench/contract/document.ts";
import { type Call, type Client, fixture, type Json, newClient } from "./client.ts";
import { OPERATIONS } from "./contract.ts";
import { type Wrong, wrongParameters, wrongTexts, wrongValues } from "./wrong-values.ts";

/** What is asked may be of any characters. */
const QUESTION = "query";

interface Issue {
  loc: (string | number)[];
  msg: string;
  type: string;
}

/** What one place of a request may hold that it mustn't. */
interface Place {
  part: "path" | "query" | "header" | "body";
  /** None: the body itself. */
  name?: string;
  wrongs: Wrong[];
}

/** What isn't marked as required, but has to be there. */
const NEEDED: Record<string, object> = { "POST /index/{index_name}/search": { query: "x" } };
/** What forms hold, where nothing is wrong. */
const FILES: Record<string, string> = { video_file: "clip.mp4", image_file: "words.jpg" };
/** What holds any text, or follows a protocol that has answers of its own. */
const ANY_TEXT = /^(transcript|tus-.+|upload-.+|x-http-method-override)$/;

const WRONG_BODIES: Wrong[] = [[], "x", 7, null].map((value) => {
  return { value, type: "dict_type", msg: "Input should be a valid dictionary" };
});

const GUARDED = OPERATIONS.filter(({ scope }) => scope !== null).map((operation) => ({
  name: `${operation.method} ${operation.path}`,
  operation,
  places: placesOf(operation),
}));

let client: Client;
let files: Record<string, File>;

beforeAll(async () => {
  client = await newClient();
  await client.json("POST", "/index", { json: { index_name: "a" } });
  const read = Object.entries(FILES).map(async ([name, file]) => [name, await fixture(file)]);
  const transcript = new File(["Hello there."], "words.txt");
  files = { transcript, ...Object.fromEntries(await Promise.all(read)) };
});

describe.each(GUARDED.filter(({ places }) => places.length > 0))("$name", (each) => {
  const { operation, places } = each;

  it("tells each broken rule of each field, as FastAPI does", async () => {
    for (const place of places) {
      for (const wrong of place.wrongs) {
        const found = await issuesOf(operation, [{ ...place, wrongs: [wrong] }]);
        expect({ wrong: wrong.value, found }).toEqual({
          wrong: wrong.value,
          found: [issueOf(place, wrong)],
        });
      }
    }
  });

  it("tells all of them at once", async () => {
    const named = places.filter(({ name, wrongs }) => name !== undefined && wrongs.length > 0);
    const found = await issuesOf(operation, named);
    const expected = named.map((place) => issueOf(place, place.wrongs[0]!));
    expect(found.toSorted(byPlace)).toEqual(expected.toSorted(byPlace));
  });
});

describe.each(GUARDED.filter(({ operation }) => operation.json))("$name", ({ operation }) => {
  it("tells where its body stops being JSON", async () => {
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

const NEEDY = GUARDED.filter(({ operation }) => operation.json && operation.bodyRequired);

it.each(NEEDY)("$name tells that it needs a body", async ({ operation }) => {
  expect((await send(operation, [], {})).detail).toEqual([
    { loc: ["body"], msg: "Field required", type: "missing" },
  ]);
});

it("every field of the contract has a wrong value, or is named here as one that takes any text", () => {
  const unheld = GUARDED.flatMap(({ places }) => places)
    .filter(({ wrongs }) => wrongs.length === 0)
    .map(({ name }) => name);
  expect(unheld.filter((name) => !ANY_TEXT.test(name ?? ""))).toEqual([]);
  const withoutFields = GUARDED.filter(({ places }) => places.length === 0);
  expect(withoutFields.map(({ name }) => name)).toEqual(["GET /stats"]);
});

function placesOf({ parameters, json, form }: Operation): Place[] {
  const places: Place[] = parameters.map((parameter) => ({
    part: parameter.in,
    name: parameter.name,
    wrongs: wrongParameters(parameter),
  }));
  for (const parameter of parameters) {
    if (parameter.name !== "cursor") continue;
    const msg = "Value error, The cursor is not one of ours";
    places
      .find(({ name }) => name === "cursor")!
      .wrongs.unshift(...["!", "YWJj"].map((value) => ({ value, type: "value_error", msg })));
  }
  if (json) places.push({ part: "body", wrongs: WRONG_BODIES });
  for (const [name, schema] of Object.entries(json?.properties ?? {})) {
    places.push({ part: "body", name, wrongs: [...wrongValues(schema), ...absent(json!, name)] });
  }
  for (const [name, schema] of Object.entries(form?.properties ?? {})) {
    places.push({
      part: "body",
      name,
      wrongs: [...wrongPart(name, schema), ...absent(form!, name)],
    });
  }
  return places.map((place) => (place.name === QUESTION ? withoutNul(place) : place));
}

function absent({ required = [] }: Schema, name: string): Wrong[] {
  if (!required.includes(name) || ANY_TEXT.test(name)) return [];
  return [{ value: undefined, type: "missing", msg: "Field required" }];
}

function withoutNul(place: Place): Place {
  return { ...place, wrongs: place.wrongs.filter(({ value }) => value !== "a\0b") };
}

function wrongPart(name: string, schema: Schema): Wrong[] {
  if (schema.format !== "binary") return wrongTexts(schema);
  if (ANY_TEXT.test(name)) return [];
  const msg = "Value error, Expected a file, got text: name a filename";
  return [{ value: "x", type: "value_error", msg }];
}

function issueOf({ part, name }: Place, { at = [], msg, type }: Wrong): Issue {
  return { loc: [part, ...(name === undefined ? [] : [name]), ...at], msg, type };
}

function byPlace(a: Issue, b: Issue): number {
  return JSON.stringify(a) < JSON.stringify(b) ? -1 : 1;
}

async function issuesOf(operation: Operation, places: Place[]): Promise<Issue[]> {
  const { status, detail } = await send(operation, places, null);
  if (status !== 422) throw new Error(`${status} to ${JSON.stringify(places)}`);
  return detail;
}

/** Sends what is right but for the first wrong value of each place. */
async function send(
  operation: Operation,
  places: Place[],
  call: Call | null,
): Promise<{ status: number; detail: Json }> {
  const { method, path, parameters } = operation;
  const wrongAt = (part: string, name?: string) =>
    places.find((place) => place.part === part && place.name === name)?.wrongs[0];
  const valueOf = (part: string, name: string, right: unknown) => {
    const wrong = wrongAt(part, name);
    return wrong ? wrong.value : right;
  };
  const query = new URLSearchParams();
  const headers: Record<string, string> = {};
  let target = path;
  for (const { name, in: part, required } of parameters) {
    const right =
      part === "path" ? (name === "index_name" ? "a" : "x") : required ? "x" : undefined;
    const value = valueOf(part, name, right);
    if (value === undefined) continue;
    if (part === "path") target = target.replace(`{${name}}`, encodeURIComponent(asText(value)));
    else if (part === "header") headers[name] = asText(value);
    else for (const one of [value].flat()) query.append(name, asText(one));
  }
  const body = call ?? bodyOf(operation, valueOf, wrongAt("body"));
  const url = `${target}?${query.toString()}`;
  const sent = await client.send(method, url, {
    ...body,
    headers: { ...headers, ...body.headers },
  });
  const { detail }: Json = await sent.json();
  return { status: sent.status, detail };
}

function bodyOf(
  { method, path, json, form }: Operation,
  valueOf: (part: string, name: string, right: unknown) => unknown,
  whole: Wrong | undefined,
): Call {
  if (whole) return { json: whole.value };
  const needed = NEEDED[`${method} ${path}`] ?? {};
  if (json) {
    const fields = Object.keys(json.properties ?? {}).map((name) => {
      const right = json.required?.includes(name) ? "x" : Reflect.get(needed, name);
      return [name, valueOf("body", name, right)];
    });
    return { json: Object.fromEntries(fields) };
  }
  if (!form) return {};
  const parts = Object.keys(form.properties ?? {}).flatMap((name) => {
    const right = files[name];
    const value = valueOf("body", name, right);
    return value === undefined ? [] : [[name, value instanceof Blob ? value : asText(value)]];
  });
  return { form: Object.fromEntries(parts) as Record<string, string | Blob> };
}

function asText(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
