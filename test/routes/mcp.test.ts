import { beforeAll, describe, expect, it } from "vitest";
import { Client, clientOf, type Json, newClient } from "../support/client.ts";
import { connect, rpc } from "../support/mcp-client.ts";
import { createSampleIndex } from "../support/sample-index.ts";
import { run } from "../support/store-queries.ts";
import { waitUntil } from "../support/wait.ts";

let client: Client;
let video: Json;
let words: Json;

beforeAll(async () => {
  ({ client, video, words } = await createSampleIndex());
});

const READING_TOOLS = [
  "list_indices",
  "list_assets",
  "search",
  "count",
  "answer",
  "list_watches",
  "list_watch_matches",
];
const TOOLS = [...READING_TOOLS, "create_watch", "update_watch", "delete_watch"];
const GOATS = "The keeper lives here with two goats.";

describe.each(["auto", "legacy"] as const)("the official MCP client (%s)", (mode) => {
  it("lists the tools with input and output schemas", async () => {
    const mcp = await connect(client, mode);
    expect(mcp.getServerVersion()).toMatchObject({ name: "sightline" });
    expect(mcp.getInstructions()).toContain("list_indices");
    expect(mcp.getServerCapabilities()).toEqual({ tools: { listChanged: false } });
    const { tools } = await mcp.listTools();
    expect(tools.map(({ name }) => name)).toEqual(TOOLS);
    for (const { name, description, inputSchema, outputSchema, annotations } of tools) {
      expect(description!.length).toBeGreaterThan(50);
      expect(inputSchema.type).toBe("object");
      expect(outputSchema).toMatchObject({ type: "object" });
      expect(annotations).toMatchObject({ readOnlyHint: READING_TOOLS.includes(name) });
      expect(annotations!.destructiveHint ?? false).toBe(name === "delete_watch");
    }
    await mcp.close();
  });

  it("creates, changes, pauses and deletes a watch, without a webhook", async () => {
    const mcp = await connect(client, mode);
    const call = async (name: string, args: object): Promise<Json> =>
      mcp.callTool({ name, arguments: { index_name: "trip", ...args } });
    const webhook_url = "https://hooks.example.com/x";
    const created = await call("create_watch", { name: "Goats", query: "goats", webhook_url });
    const { watch_id } = created.structuredContent;
    const path = `/index/trip/watches/${watch_id}`;
    expectSame(created);
    expect(created.structuredContent).toMatchObject({ name: "Goats", query: "goats" });
    expect(await client.json("GET", path)).toMatchObject({ query: "goats", webhook_url: null });
    const change = { watch_id, query: "sheep", paused: true, webhook_url };
    const changed = await call("update_watch", change);
    expect(changed.structuredContent).toMatchObject({ paused: true, query: "sheep" });
    expect(await client.json("GET", path)).toMatchObject({ query: "sheep", webhook_url: null });
    expect((await call("update_watch", { watch_id, query: "?" })).isError).toBe(true);
    const deleted = await call("delete_watch", { watch_id });
    expect(deleted.structuredContent).toEqual({ watch_id, deleted: true });
    expect((await call("delete_watch", { watch_id })).isError).toBe(true);
    await mcp.close();
  });

  it("has only the tools that read if its key has only the scope `read`", async () => {
    const mcp = await connect(await clientOf("reader", ["read"]), mode);
    const { tools } = await mcp.listTools();
    expect(tools.map(({ name }) => name)).toEqual(READING_TOOLS);
    const call = mcp.callTool({ name: "delete_watch", arguments: { watch_id: "wat_1" } });
    await expect(call).rejects.toThrow("delete_watch");
    await mcp.close();
  });

  it("calls all tools: from the indices to a search result and an answer", async () => {
    const mcp = await connect(client, mode);
    const call = async (name: string, args: object): Promise<Json> =>
      mcp.callTool({ name, arguments: { ...args } });

    const { structuredContent: listed } = expectSame(await call("list_indices", {}));
    expect(listed).toMatchObject({ total: 1, next_cursor: null });
    const [{ index_name, counts }] = listed.indices;
    expect({ index_name, counts }).toMatchObject({
      index_name: "trip",
      counts: { videos: 1, images: 2 },
    });

    const assets = await call("list_assets", { index_name, type: "video", limit: 1 });
    expect(assets.structuredContent.assets).toMatchObject([
      { asset_id: video.asset_id, state: "ready", metadata: { camera: "A" } },
    ]);

    const found = await call("search", { index_name, query: "goats", top_k: 2 });
    const [best] = found.structuredContent.segments;
    expect(best).toMatchObject({ asset_id: video.asset_id, rank: 1, transcript: GOATS });
    expectSame(found);
    expect((await fetchMedia(best.clip_url)).status).toBe(200);

    const query = "Who lives with the goats?";
    const answered = await call("answer", { index_name, query });
    expect(answered.structuredContent).toMatchObject({
      answer: `${GOATS} [1]`,
      grounded: true,
      citations: [{ marker: 1, asset_id: video.asset_id }],
    });
    await mcp.close();
  });
});

/** Expects the text of a result to be its structured content as JSON. */
function expectSame(result: Json): Json {
  expect(JSON.parse(result.content[0].text)).toEqual(result.structuredContent);
  return result;
}

describe("an MCP tool", () => {
  it("names the index of each moment of several", async () => {
    const found = (await call("search", { index_names: ["*"], query: "goats" })).result;
    expect(found.structuredContent).toMatchObject({ partial: [] });
    expect(found.structuredContent.segments[0]).toMatchObject({ index_name: "trip" });
    const question = { index_names: ["trip"], query: "Who lives with the goats?" };
    const answered = (await call("answer", question)).result;
    expect(answered.structuredContent.citations[0]).toMatchObject({ index_name: "trip" });
  });

  const call = async (name: string, args: object, as = client): Promise<Json> =>
    (await rpc(as, { id: 1, method: "tools/call", params: { name, arguments: args } })).message;
  const textOf = ({ result }: Json): string => result.content[0].text;

  it("returns the same hits as its API operation", async () => {
    const json = { query: "lantern", top_k: 3, modes: ["image"], top_p: 0.1 };
    const { segments, total } = await client.json("POST", "/index/trip/search", { json });
    const { result } = await call("search", { index_name: "trip", ...json });
    expect(result.structuredContent.total).toBe(total);
    const ids = (all: Json[]) => all.map(({ segment_id, score }) => ({ segment_id, score }));
    expect(ids(result.structuredContent.segments)).toEqual(ids(segments));
    expect(result.structuredContent.segments[0].asset_id).toBe(words.asset_id);
  });

  it("finds moments that follow one another, with the times of each step", async () => {
    const sequence = ["lighthouse", "goats"];
    const message = await call("search", { index_name: "trip", sequence, within_seconds: 5 });
    const [hit] = message.result.structuredContent.segments;
    expect(hit).toMatchObject({ asset_id: video.asset_id, start_seconds: 0, end_seconds: 6 });
    expect(hit.steps.map(({ query }: Json) => query)).toEqual(sequence);
  });

  it("leaves out what mustn't be there, and requires what has to", async () => {
    const search = async (args: object) =>
      (await call("search", { index_name: "trip", ...args })).result.structuredContent;
    const without = await search({ query: "lantern boat", without: ["boat"] });
    expect(without.segments[0].asset_id).toBe(words.asset_id);
    const both = await search({ all: ["keeper", "goats"], top_p: 0.3 });
    expect(both.segments.map(({ asset_id }: Json) => asset_id)).toEqual([video.asset_id]);
  });

  it("passes filter, asset_ids, similar_to and cursor on to the operation", async () => {
    const search = async (args: object) =>
      (await call("search", { index_name: "trip", ...args })).result.structuredContent;
    const filtered = await search({ query: "a house", filter: { camera: "A" } });
    expect(new Set(filtered.segments.map((hit: Json) => hit.asset_id))).toEqual(
      new Set([video.asset_id]),
    );
    const scoped = await search({ query: "a house", asset_ids: [words.asset_id] });
    expect(scoped.segments.map((hit: Json) => hit.asset_id)).toEqual([words.asset_id]);
    const example = { similar_to: words.asset_id, top_k: 1 };
    const first = await search(example);
    expect(first.segments).toHaveLength(1);
    const next = await search({ ...example, cursor: first.next_cursor });
    expect(next.segments[0].rank).toBe(2);
    const page = await call("list_assets", { index_name: "trip", limit: 2 });
    expect(textOf(page)).toContain(page.result.structuredContent.next_cursor);
  });

  it("returns an error result with a sentence for an invalid call", async () => {
    const failures = [
      ["search", { index_name: "nothing", query: "x" }, 'no index named "nothing"'],
      ["search", { index_name: "trip", query: "x", asset_ids: ["vid_1"] }, "vid_1"],
      ["search", { index_name: "trip" }, "query: Field required"],
      ["search", { index_name: "trip", query: "x", filter: { a: { $near: 1 } } }, "$near"],
      ["search", { index_name: "trip", query: "x", top_k: 1000 }, "top_k"],
      ["search", { index_name: "../keys", query: "x" }, "index_name"],
      ["search", { query: "x" }, "index_name"],
      ["search", { index_name: "trip", index_names: ["trip"], query: "x" }, "index_name"],
      ["search", { index_names: ["trip", "nothing"], query: "x" }, 'no index named "nothing"'],
      ["search", { index_names: ["*"], query: "x", asset_ids: ["vid_1"] }, "asset_ids"],
      ["list_assets", { index_name: "trip", cursor: "x" }, "cursor"],
      ["answer", { index_name: "trip", query: "" }, "query"],
      ["answer", { index_name: "trip" }, "query"],
    ] as const;
    for (const [name, args, detail] of failures) {
      const message = await call(name, args);
      const isError = message.result?.isError;
      expect({ name, args, isError }).toEqual({ name, args, isError: true });
      expect(textOf(message)).toContain(detail);
      expect(message.result.structuredContent).toBeUndefined();
    }
  });

  it("that doesn't exist is a protocol error", async () => {
    expect((await call("delete_index", {})).error).toMatchObject({ code: -32602 });
    const { message } = await rpc(client, { id: 1, method: "resources/list" });
    expect(message.error).toMatchObject({ code: -32601 });
  });

  it("can't read another account's indices and assets", async () => {
    const stranger = await newClient();
    await stranger.json("POST", "/index", { json: { index_name: "own" } });
    expect((await call("list_indices", {}, stranger)).result.structuredContent.total).toBe(1);
    for (const [name, args] of [
      ["list_assets", { index_name: "trip" }],
      ["search", { index_name: "trip", query: "goats" }],
      ["search", { index_name: "own", query: "goats", asset_ids: [video.asset_id] }],
      ["search", { index_name: "own", similar_to: video.asset_id }],
      ["search", { index_names: ["own", "trip"], query: "goats" }],
      ["answer", { index_name: "trip", query: "Who lives with the goats?" }],
      ["answer", { index_names: ["trip"], query: "Who lives with the goats?" }],
      ["answer", { index_name: "own", query: "Who?", asset_ids: [video.asset_id] }],
    ] as const) {
      const message = await call(name, args, stranger);
      expect(message.result.isError).toBe(true);
      expect(textOf(message)).toMatch(/^There is no /);
    }
  });

  it("counts towards usage as its operation does, and respects the account's limits", async () => {
    const { account_id, client: limited } = await newAccount();
    await limited.json("POST", "/index", { json: { index_name: "own" } });
    await call("search", { index_name: "own", query: "goats" }, limited);
    await waitUntil(async () => (await getUsage(limited)).searches === 1);
    await run(
      "UPDATE accounts SET limits = ? WHERE account_id = ?",
      JSON.stringify({ searches_per_day: 1, answers_per_day: 0 }),
      account_id,
    );
    const searched = await call("search", { index_name: "own", query: "goats" }, limited);
    const answered = await call("answer", { index_name: "own", query: "Who?" }, limited);
    for (const message of [searched, answered]) {
      expect(message.result.isError).toBe(true);
      expect(textOf(message)).toMatch(/limit (searches|answers)_per_day/);
    }
  });

  async function getUsage(account: Client): Promise<Json> {
    return (await account.json("GET", "/stats")).usage.today;
  }
});

async function newAccount() {
  const account = await newClient();
  const { account_id } = await account.json("POST", "/init");
  return { client: account, account_id };
}

function fetchMedia(url: string): Promise<Response> {
  const { pathname } = new URL(url);
  return new Client("").send("GET", pathname);
}
