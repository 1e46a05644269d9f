import { beforeAll, expect, it } from "vitest";
import type { Operation } from "../../tools/openapi.ts";
import type { Json } from "../support/client.ts";
import { OPERATIONS } from "../support/contract.ts";
import {
  createFullAccount,
  type FullAccount,
  type IdField,
  unknownIdFor,
} from "../support/full-account.ts";

/** Segments that URLs drop with the one before, or that other programs decode to such. */
const DOTS = ["..", ".", "%2e%2e", "%2E%2e", ".%2e", "..%2f", "%2e%2e%2f..", "..%5c"];
/** Text that is no id, encoded. */
const MALFORMED = [
  "%252e%252e",
  "vid_",
  "vid_01katn4b7y3d5e8ghj1k2m6p9q",
  "vid_01KATN4B7Y3D5E8GHJ1K2M6P9",
  "vid_01KATN4B7Y3D5E8GHJ1K2M6P9QX",
  "ind_01KATN4B7Y3D5E8GHJ1K2M6P9Q",
  "acc_01KATN4B7Y3D5E8GHJ1K2M6P9Q",
  "%20",
  "%25",
  "'%20OR%201%3D1--",
  "%F0%9F%98%80",
  "a".repeat(3000),
];

const WITH_PATH = OPERATIONS.flatMap((operation) =>
  operation.parameters
    .filter(({ in: part }) => part === "path")
    .map(({ name }) => ({
      title: `${operation.method} ${operation.path} with ${name}`,
      operation,
      name: name as IdField,
    })),
);

let account: FullAccount;
beforeAll(async () => {
  account = await createFullAccount();
});

const CHANGES = WITH_PATH.filter(({ operation: { method } }) => !["GET", "HEAD"].includes(method));

it.each(CHANGES)(
  "$title changes nothing if it is a segment that URLs drop",
  async ({ operation, name }) => {
    const before = await snapshot();
    for (const dots of DOTS) {
      const { status } = await send(operation, { [name]: dots });
      expect({ dots, status, isRefused: status >= 400 }).toMatchObject({ isRefused: true });
    }
    expect(await snapshot()).toEqual(before);
  },
);

it.each(WITH_PATH.filter(({ name }) => name !== "index_name"))(
  "$title returns the same for what is no id as for an unknown id",
  async ({ operation, name }) => {
    const unknown = unknownIdFor(account.ids[name][0]!);
    const expected = await summaryOf(operation, name, unknown);
    expect(expected.status).toBe(404);
    for (const malformed of MALFORMED) {
      expect(await summaryOf(operation, name, malformed)).toEqual(expected);
    }
  },
);

it.each(OPERATIONS.filter(({ method }) => ["DELETE", "PATCH"].includes(method)))(
  "$method $path is not found with a trailing slash",
  async ({ method, path }) => {
    const response = await account.client.send(method, `${fill(path, {})}/`, { json: {} });
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({
      detail: expect.stringMatching(/^There is nothing at/),
    });
  },
);

/** Returns what a request by mistake could have changed. */
async function snapshot(): Promise<Json> {
  const { client } = account;
  const [index, sources, uploads, keys, jobs] = await Promise.all([
    client.json("GET", "/index"),
    client.json("GET", "/index/private/sources"),
    client.json("GET", "/index/private/uploads"),
    client.json("GET", "/keys"),
    client.json("GET", "/jobs?limit=100"),
  ]);
  const facts = keys.keys.map(({ key_id, revoked_at }: Json) => [key_id, revoked_at]);
  return { index, sources, uploads, facts, total: jobs.total };
}

/** Sends a request of an operation whose path has other segments, as they are. */
function send(
  { method, path, json, parameters }: Operation,
  segments: Partial<Record<IdField, string>>,
) {
  const metadata = { by: "mistake" };
  // Only fields of the endpoint: others may be refused for their names.
  const ofWatch = { query: "a", name: "a" };
  const isAsset = /\/(?:video|image)\//.test(path);
  const ofOthers = isAsset ? { metadata } : { ...ofWatch, metadata, description: "by mistake" };
  const body = path.includes("/watches/") ? ofWatch : ofOthers;
  const headers = { "tus-resumable": "1.0.0" };
  const hasQuery = parameters.some(({ name, in: part }) => name === "query" && part === "query");
  const url = `${fill(path, segments)}${hasQuery ? "?query=lantern" : ""}`;
  return account.client.send(method, url, json ? { headers, json: body } : { headers });
}

async function summaryOf(operation: Operation, name: IdField, segment: string) {
  const response = await send(operation, { [name]: segment });
  const { detail }: Json = await response.json();
  const isText = typeof detail === "string";
  return {
    status: response.status,
    detail: isText ? detail.replace(`"${decodeURIComponent(segment)}"`, "…") : detail,
  };
}

function fill(path: string, segments: Partial<Record<IdField, string>>): string {
  return path.replaceAll(
    /\{(\w+)\}/g,
    (_, name: IdField) => segments[name] ?? account.ids[name][0]!,
  );
}
