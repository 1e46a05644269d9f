import { base64url } from "jose";
import { beforeAll, describe, expect, it } from "vitest";
import { SCOPES } from "../../src/keys.ts";
import type { Operation, Schema } from "../../tools/openapi.ts";
import { Client, clientOf, type Json, newClient } from "../support/client.ts";
import { OPERATIONS } from "../support/contract.ts";
import {
  type IdField,
  ID_FIELDS,
  unknownIdFor,
  createFullAccount,
  type FullAccount,
} from "../support/full-account.ts";
import {
  newRevokedKey,
  newKeySignedBy,
  spliceSignature,
  removeSignature,
} from "../support/invalid-keys.ts";

const AUTHENTICATED = OPERATIONS.filter(({ scope }) => scope !== null);

/** Fields that identify no resource. A new field must be added here or to `ID_FIELDS`. */
const NON_ID_FIELDS = new Set(
  `limit state type name email scopes expires_at description metadata settings title video_url image_url
   video_file image_file transcript metadata_str format url platform playlist_id query username follow
   top_k top_p modes all none scope_seconds collapse use_boxes use_masks queue_job relevant filter group_by start_seconds end_seconds
   last-event-id system_prompt markdown language stream search_term start_time end_time idempotency-key tus-resumable
   upload-checksum upload-length upload-metadata upload-offset
   transcript_encoding moments fps correct min_probability webhook_url paused asset_types
   media handles_seconds search after sequence within_seconds skipped facets unit top folder`.split(
    /\s+/,
  ),
);

let owner: FullAccount;
let stranger: FullAccount;
let revoked: Client;

beforeAll(async () => {
  [owner, stranger] = await Promise.all([createFullAccount(), createFullAccount()]);
  revoked = await newRevokedKey();
});

it("every field in the OpenAPI document is classified as an id or not", () => {
  const names = AUTHENTICATED.flatMap(listFieldNames).map(({ name }) => name);
  const isKnown = (name: string) => NON_ID_FIELDS.has(name) || ID_FIELDS.some((id) => id === name);
  expect(names.filter((name) => !isKnown(name))).toEqual([]);
  expect(ID_FIELDS.filter((id) => !names.includes(id))).toEqual([]);
  expect([...NON_ID_FIELDS].filter((name) => !names.includes(name))).toEqual([]);
});

it("every operation but the health check needs a key", () => {
  const open = OPERATIONS.flatMap(({ scope, path }) => (scope === null ? path : []));
  expect(open).toEqual(["/health"]);
});

describe("an invalid key returns 401 for every operation", () => {
  it.each<[string, () => Promise<Client> | Client]>([
    ["missing", () => new Client("")],
    ["garbage", () => new Client("garbage")],
    ["with another key's signature", () => spliceSignature(owner.client, stranger.client)],
    ["unsigned", () => removeSignature(owner.client)],
    ["expired", () => clientOf("someone", ["read", "write"], Date.now() - 1000)],
    ["revoked", () => revoked],
    ["of a retired secret", () => newKeySignedBy("retired", owner.client)],
    ["of another secret with the same kid", () => newKeySignedBy("test", owner.client)],
    ["a media token", mediaToken],
  ])("if it is %s", async (kind, make) => {
    const client = await make();
    for (const operation of AUTHENTICATED) {
      const response = await client.send(operation.method, fillPath(operation, owner));
      const title = `${operation.method} ${operation.path}`;
      expect({ title, status: response.status }).toEqual({ title, status: 401 });
      expect(response.headers.get("www-authenticate")).toBe("ApiKey");
      if (operation.method === "HEAD") continue;
      const { detail }: Json = await response.json();
      expect(detail).toBe(kind === "missing" ? MISSING : INVALID);
    }
  });

  const MISSING = "Send your API key in the X-API-Key header.";
  const INVALID = "The API key is not valid: unknown, expired or revoked.";
});

it.each(AUTHENTICATED)("$method $path returns 403 without its scope", async (operation) => {
  const others = SCOPES.filter((other) => other !== operation.scope);
  const limited = await clientOf("limited", others);
  const response = await limited.send(operation.method, fillPath(operation, owner));
  expect(response.status).toBe(403);
});

const WITH_IDS = AUTHENTICATED.map((operation) => ({
  title: `${operation.method} ${operation.path}`,
  operation,
  named: listFieldNames(operation).flatMap(({ name, part }) => {
    const id = ID_FIELDS.find((field) => field === name);
    // A new index may have the name of another account's index.
    const isNewName = id === "index_name" && part !== "path";
    return id === undefined || isNewName ? [] : [{ id, part }];
  }),
})).filter(({ named }) => named.length > 0);

describe.each(WITH_IDS)("$title", ({ operation, named }) => {
  it("returns the same for another account's ids as for unknown ids, without any secret", async () => {
    const secrets = Object.values(owner.ids).flat().filter(isSecretId);
    for (const { id, part } of named) {
      for (const foreign of owner.ids[id]) {
        const reader = id.startsWith("index_name") ? await getEmptyAccount() : stranger;
        const [existing, unknown] = await Promise.all(
          [foreign, unknownIdFor(foreign)].map((value) =>
            sendWithId(reader, operation, id, part, value),
          ),
        );
        expect(unknown).toEqual(existing);
        const { status, body } = existing!;
        const expected = id === "cursor" ? [200, 422] : [404];
        const isExpected = expected.includes(status);
        expect({ id, foreign, status, isExpected }).toEqual({
          id,
          foreign,
          status,
          isExpected: true,
        });
        expect(secrets.filter((secret) => body.includes(secret))).toEqual([]);
      }
    }
  });
});

const WITH_INDEX_SCOPED_IDS = WITH_IDS.map(({ title, operation, named }) => ({
  title,
  operation,
  named: named.filter(({ id }) => !["index_name", "job_id", "key_id"].includes(id)),
})).filter(({ operation, named }) => operation.path.includes("{index_name}") && named.length > 0);

it.each(WITH_INDEX_SCOPED_IDS)(
  "$title returns the same for ids of another index as for unknown ids",
  async ({ operation, named }) => {
    const { client, ids } = owner;
    await client.send("POST", "/index", { json: { index_name: "other" } });
    const other: FullAccount = { client, ids: { ...ids, index_name: ["other"] } };
    for (const { id, part } of named) {
      for (const foreign of ids[id]) {
        const [existing, unknown] = await Promise.all(
          [foreign, unknownIdFor(foreign)].map((value) =>
            sendWithId(other, operation, id, part, value),
          ),
        );
        expect(unknown).toEqual(existing);
        expect(id === "cursor" ? [200, 404, 422] : [404]).toContain(existing!.status);
      }
    }
  },
);

describe("an account whose ids other accounts have used", () => {
  it("still has all its resources", async () => {
    const { client, ids } = owner;
    const { assets } = await client.json("GET", "/index/private");
    const assetIds = assets.map(({ asset_id }: Json) => asset_id);
    expect(assetIds).toEqual(expect.arrayContaining(ids.asset_ids));
    for (const path of [
      `/index/private/video/${ids.video_id[0]}`,
      `/index/private/uploads/${ids.upload_id[0]}`,
      `/jobs/${ids.job_id[0]}`,
    ]) {
      expect((await client.send("GET", path)).status).toBe(200);
    }
    const { keys } = await client.json("GET", "/keys");
    expect(keys.every((key: Json) => key.revoked_at === null)).toBe(true);
    expect((await client.json("GET", "/index/private/sources")).total).toBe(1);
  });
});

describe("two accounts with an index of the same name and the same file", () => {
  it("get only their own resources", async () => {
    for (const [reader, other] of [
      [owner, stranger],
      [stranger, owner],
    ] as const) {
      const json = { query: "lantern", top_k: 500 };
      for (const body of [
        await reader.client.json("GET", "/index/private"),
        await reader.client.json("POST", "/index/private/search", { json }),
        await reader.client.json("GET", "/index/private/traverse"),
        await reader.client.json("GET", "/jobs"),
        await reader.client.json("GET", "/keys"),
      ]) {
        const text = JSON.stringify(body);
        expect(
          Object.values(other.ids)
            .flat()
            .filter(isSecretId)
            .filter((id) => text.includes(id)),
        ).toEqual([]);
      }
    }
  });

  it("have an asset each", () => {
    expect(owner.ids.image_id).not.toEqual(stranger.ids.image_id);
  });
});

it("a search cursor of another account is refused", async () => {
  const cursor = base64url.encode(`at:0:${Date.now()}:abcdefgh`);
  const json = { query: "words", cursor };
  const issues = await stranger.client.issues("POST", "/index/private/search", { json });
  expect(issues).toEqual([[["body", "cursor"], "value_error"]]);
});

it("an API key isn't accepted as a media token", async () => {
  const response = await owner.client.send("GET", `/media/${owner.client.key}/x`);
  expect(response.status).toBe(404);
});

/** Returns the names of all parameters and body fields of an operation. */
function listFieldNames({ parameters, json, form }: Operation): { name: string; part: string }[] {
  const fields = (schema: Schema | null) =>
    Object.keys(schema?.properties ?? {}).map((name) => ({ name, part: "body" }));
  return [
    ...parameters.map(({ name, in: part }) => ({ name, part: part as string })),
    ...fields(json),
    ...fields(form),
  ];
}

function fillPath({ path }: Operation, { ids }: FullAccount): string {
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => ids[name as IdField][0]!);
}

interface ResponseSummary {
  status: number;
  body: string;
  headers: [string, string][];
}

/** Valid bodies of imports. */
const IMPORTS: Record<string, object> = {
  "/index/{index_name}/videonet/url": { url: "https://a.example/film" },
  "/index/{index_name}/videonet/playlist": { url: "https://a.example/c/boats" },
  "/index/{index_name}/photonet/profile": { url: "https://a.example/@boats" },
};
/** Part of a video that no account has. */
const MOMENT = { asset_id: "vid_00000000000000000000000000", start_seconds: 0, end_seconds: 1 };

/**
 * Sends a request with `value` as one of its ids. The summary leaves out that id and what differs
 * in each response, so that summaries can be compared.
 */
async function sendWithId(
  world: FullAccount,
  operation: Operation,
  id: IdField,
  part: string,
  value: string,
): Promise<ResponseSummary> {
  const ids = { ...world.ids, ...(part === "path" && { [id]: [value] }) };
  const url = new URL(fillPath(operation, { ...world, ids }), "https://a.example");
  for (const { name, in: location, required } of operation.parameters) {
    if (location === "query" && required) url.searchParams.set(name, "lantern");
  }
  if (part === "query") url.searchParams.set(id, value);
  const fields = operation.json?.properties ?? {};
  const isExport = fields["handles_seconds"] !== undefined;
  const member = isExport && id === "segments" ? { segment_id: value } : value;
  const json = {
    ...(fields["query"] && id !== "search_id" && { query: "lantern" }),
    ...(fields["index_names"] && { index_names: world.ids.index_name }),
    ...(fields["segment_id"] && { segment_id: world.ids.segment_id[0], relevant: true }),
    ...(fields["platform"] && IMPORTS[operation.path]),
    ...(fields["moments"] && { moments: [MOMENT] }),
    ...(isExport && { format: "edl", segments: [{ segment_id: world.ids.segment_id[0] }] }),
    ...(fields["min_probability"] && fields["name"] && { name: "lantern" }),
    ...(part === "body" && { [id]: fields[id]?.type === "array" ? [member] : value }),
  };
  const call = operation.json ? { json } : {};
  const response = await world.client.send(operation.method, url.pathname + url.search, call);
  const body = (await response.text()).replaceAll(value, "…");
  const headers = [...response.headers].filter(([name]) => !VARIABLE_HEADERS.test(name));
  return {
    status: response.status,
    body: body.replaceAll(/"\/?[^"]*\/media\/[^"]*"/g, '"…"'),
    headers,
  };
}

const VARIABLE_HEADERS = /^(x-request-id|ratelimit|server-timing|etag|content-length)$/;

/** Tests whether only the owner can know an id, unlike the index's name. */
const isSecretId = (id: string) => id !== "private";
let emptyAccount: FullAccount | undefined;

/** Returns an account without any resource. */
async function getEmptyAccount(): Promise<FullAccount> {
  emptyAccount ??= { client: await newClient(), ids: stranger.ids };
  return emptyAccount;
}

async function mediaToken(): Promise<Client> {
  const { client, ids } = owner;
  const { media_url } = await client.json("GET", `/index/private/image/${ids.image_id[0]}`);
  return new Client(new URL(media_url).pathname.split("/")[2]!);
}
