import { beforeAll, describe, expect, it, vi } from "vitest";
import { Client, type Json, newClient } from "./client.ts";
import { connect, rpc } from "./mcp-client.ts";
import { run } from "./stores.ts";
import { buildTrip } from "./trip.ts";

let client: Client;
let video: Json;
let words: Json;

beforeAll(async () => {
  ({ client, video, words } = await buildTrip());
}, 60_000);

const TOOLS = ["list_indices", "list_assets", "search", "answer"];
const GOATS = "The keeper lives here with two goats.";

describe.each(["auto", "legacy"] as const)("the official client (%s)", (mode) => {
  it("lists tools, each with a schema of what it takes and gives", async () => {
    const mcp = await connect(client, mode);
    expect(mcp.getServerVersion()).toMatchObject({ name: "sightline" });
    expect(mcp.getInstructions()).toContain("list_indices");
    expect(mcp.getServerCapabilities()).toEqual({ tools: { listChanged: false } });
    const { tools } = await mcp.listTools();
    expect(tools.map(({ name }) => name)).toEqual(TOOLS);
    for (const { description, inputSchema, outputSchema, annotations } of tools) {
      expect(description!.length).toBeGreaterThan(50);
      expect(inputSchema.type).toBe("object");
      expect(outputSchema).toMatchObject({ type: "object" });
      expect(annotations).toMatchObject({ readOnlyHint: true });
    }
    await mcp.close();
  });

  it("finds its way from an index to a moment, and to an answer", async () => {
    const mcp = await connect(client, mode);
    const call = async (name: string, args: object): Promise<Json> =>
      mcp.callTool({ name, arguments: { ...args } });

    const { structuredContent: listed, content: told } = await call("list_indices", {});
    expect(listed).toMatchObject({ total: 1, next_cursor: null });
    const [{ index_name, counts }] = listed.indices;
    expect({ index_name, counts }).toMatchObject({ index_name: "trip", counts: { videos: 1 } });
    expect(told[0].text).toContain("- trip: 1 video (0:06), 2 images; 3 ready");

    const assets = await call("list_assets", { index_name, type: "video", limit: 1 });
    expect(assets.structuredContent.assets).toMatchObject([
      { asset_id: video.asset_id, state: "ready", metadata: { camera: "A" } },
    ]);
    expect(assets.content[0].text).toContain(`- clip.mp4, ${video.asset_id}: video of 0:06, ready`);

    const found = await call("search", { index_name, query: "goats", top_k: 2 });
    const [best] = found.structuredContent.segments;
    expect(best).toMatchObject({ asset_id: video.asset_id, rank: 1, transcript: GOATS });
    expect(found.content[0].text).toContain(
      `1. clip.mp4, 0:0${best.start_seconds}–0:06 (score ${best.score.toFixed(2)}: `,
    );
    expect(found.content[0].text).toContain(best.clip_url);
    expect((await fetchMedia(best.clip_url)).status).toBe(200);

    const language = `en-x-${mode}`; // no two are the same, so that none is out of the cache
    const query = "Who lives with the goats?";
    const answered = await call("answer", { index_name, query, language });
    expect(answered.structuredContent).toMatchObject({
      answer: `${GOATS} [1]`,
      grounded: true,
      citations: [{ marker: 1, asset_id: video.asset_id }],
    });
    expect(answered.content[0].text).toContain(`${GOATS} [1]\n\nSources:\n[1] clip.mp4, 0:0`);
    await mcp.close();
  });
});

describe("a tool", () => {
  const call = async (name: string, args: object, as = client): Promise<Json> =>
    (await rpc(as, { id: 1, method: "tools/call", params: { name, arguments: args } })).message;
  const textOf = ({ result }: Json): string => result.content[0].text;

  it("gives what the operation gives", async () => {
    const json = { query: "lantern", top_k: 3, modes: ["image"], top_p: 0.1 };
    const { segments, total } = await client.json("POST", "/index/trip/search", { json });
    const { result } = await call("search", { index_name: "trip", ...json });
    expect(result.structuredContent.total).toBe(total);
    const ids = (all: Json[]) => all.map(({ segment_id, score }) => ({ segment_id, score }));
    expect(ids(result.structuredContent.segments)).toEqual(ids(segments));
    expect(result.structuredContent.segments[0].asset_id).toBe(words.asset_id);
  });

  it("passes on filters, ids, likeness and cursors", async () => {
    const search = async (args: object) =>
      (await call("search", { index_name: "trip", ...args })).result.structuredContent;
    const filtered = await search({ query: "a house", filter: { camera: "A" } });
    expect(new Set(filtered.segments.map((one: Json) => one.asset_id))).toEqual(
      new Set([video.asset_id]),
    );
    const some = await search({ query: "a house", asset_ids: [words.asset_id] });
    expect(some.segments.map((one: Json) => one.asset_id)).toEqual([words.asset_id]);
    const like = await search({ similar_to: words.asset_id, top_k: 1 });
    expect(like.segments).toHaveLength(1);
    const next = await search({ similar_to: words.asset_id, top_k: 1, cursor: like.next_cursor });
    expect(next.segments[0].rank).toBe(2);
    const page = await call("list_assets", { index_name: "trip", limit: 2 });
    expect(textOf(page)).toContain(page.result.structuredContent.next_cursor);
  });

  it("says in words what is wrong", async () => {
    const failures = [
      ["search", { index_name: "nothing", query: "x" }, 'no index named "nothing"'],
      ["search", { index_name: "trip", query: "x", asset_ids: ["vid_1"] }, "vid_1"],
      ["search", { index_name: "trip" }, "query: Field required"],
      ["search", { index_name: "trip", query: "x", filter: { a: { $near: 1 } } }, "$near"],
      ["search", { index_name: "trip", query: "x", top_k: 1000 }, "top_k"],
      ["search", { index_name: "../keys", query: "x" }, "index_name"],
      ["search", { query: "x" }, "index_name"],
      ["list_assets", { index_name: "trip", cursor: "x" }, "cursor"],
      ["answer", { index_name: "trip", query: "" }, "query"],
      ["answer", { index_name: "trip" }, "query"],
    ] as const;
    for (const [name, args, words] of failures) {
      const told = await call(name, args);
      expect({ name, args, isError: told.result?.isError }).toEqual({ name, args, isError: true });
      expect(textOf(told)).toContain(words);
      expect(told.result.structuredContent).toBeUndefined();
    }
  });

  it("that isn't there is an error of the protocol", async () => {
    expect((await call("delete_index", {})).error).toMatchObject({ code: -32602 });
    const { message } = await rpc(client, { id: 1, method: "resources/list" });
    expect(message.error).toMatchObject({ code: -32601 });
  });

  it("shows an account nothing of another's", async () => {
    const stranger = await newClient();
    await stranger.json("POST", "/index", { json: { index_name: "own" } });
    expect((await call("list_indices", {}, stranger)).result.structuredContent.total).toBe(1);
    for (const [name, args] of [
      ["list_assets", { index_name: "trip" }],
      ["search", { index_name: "trip", query: "goats" }],
      ["search", { index_name: "own", query: "goats", asset_ids: [video.asset_id] }],
      ["search", { index_name: "own", similar_to: video.asset_id }],
      ["answer", { index_name: "trip", query: "Who lives with the goats?" }],
      ["answer", { index_name: "own", query: "Who?", asset_ids: [video.asset_id] }],
    ] as const) {
      const told = await call(name, args, stranger);
      expect(told.result.isError).toBe(true);
      expect(textOf(told)).toMatch(/^There is no /);
    }
  });

  it("counts as its operation does, and holds to the account's limits", async () => {
    const { account_id, client: own } = await newAccount();
    await own.json("POST", "/index", { json: { index_name: "own" } });
    await call("search", { index_name: "own", query: "goats" }, own);
    await vi.waitUntil(async () => (await usage(own)).searches === 1, { timeout: 10_000 });
    await run(
      "UPDATE accounts SET limits = ? WHERE account_id = ?",
      JSON.stringify({ searches_per_day: 1, answers_per_day: 0 }),
      account_id,
    );
    const searched = await call("search", { index_name: "own", query: "goats" }, own);
    const answered = await call("answer", { index_name: "own", query: "Who?" }, own);
    for (const told of [searched, answered]) {
      expect(told.result.isError).toBe(true);
      expect(textOf(told)).toMatch(/limit (searches|answers)_per_day/);
    }
  });

  async function usage(of: Client): Promise<Json> {
    return (await of.json("GET", "/stats")).usage.today;
  }
});

async function newAccount() {
  const own = await newClient();
  const { account_id } = await own.json("POST", "/init");
  return { client: own, account_id };
}

function fetchMedia(url: string): Promise<Response> {
  const { pathname } = new URL(url);
  return new Client("").send("GET", pathname);
}
