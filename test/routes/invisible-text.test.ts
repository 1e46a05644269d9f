import { beforeAll, describe, expect, it } from "vitest";
import { type Client, fixture, type Json, newClient } from "../support/client.ts";
import { INVISIBLE_TEXTS, isVisible, LINE_END } from "../support/invisible-text.ts";
import { connect } from "../support/mcp-client.ts";

/** All characters that mustn't reach a reader, but U+0000, which requests can't have. */
const TEXTS = INVISIBLE_TEXTS.filter((text) => !text.includes("\0"));
const HOSTILE = TEXTS.join(" ");
/** HTTP headers and names of form parts have no control characters. */
const HOSTILE_NAME = HOSTILE.replaceAll(/\p{Cc}/gu, "");

let client: Client;
let video: Json;

/** Yields all texts in a JSON value. */
function* textsOf(value: unknown): Generator<string> {
  if (typeof value === "string") yield value;
  if (typeof value !== "object" || value === null) return;
  for (const [name, item] of Object.entries(value)) {
    yield name;
    yield* textsOf(item);
  }
}

beforeAll(async () => {
  client = await newClient();
  const index = { index_name: "odd", description: HOSTILE };
  await client.json("POST", "/index", { json: index });
  await client.json("POST", "/init", { json: { name: HOSTILE.slice(0, 200) } });
  await client.json("POST", "/keys", { json: { name: HOSTILE.slice(0, 200) } });
  const clip = await fixture("clip.mp4");
  const spoken = TEXTS.filter((text) => !/[\x7F-\x9F]/.test(text)); // those are no text file
  const cues = spoken.map((text, i) => ({ start: i / 9, end: (i + 1) / 9, text }));
  const form = {
    video_file: new File([clip], `${HOSTILE_NAME.slice(0, 200)}.mp4`),
    transcript: JSON.stringify(cues),
  };
  const added = await client.json("POST", "/index/odd/video", { form });
  video = await client.waitForAsset("odd", added);
  expect(video.state).toBe("ready");
  const watch = { name: HOSTILE.slice(0, 200), query: HOSTILE, min_probability: 0.1 };
  await client.json("POST", "/index/odd/watches", { json: watch });
});

describe("text with invisible characters and line ends", () => {
  it.each([
    ["keys", "/keys"],
    ["indices", "/index"],
    ["assets", "/index/odd"],
    ["watches", "/index/odd/watches"],
    ["a traversal", "/index/odd/traverse"],
  ])("is cleaned in the records of %s", async (_, path) => {
    const texts = [...textsOf(await client.json("GET", path))];
    expect(texts.some((text) => text.includes("cat"))).toBe(true);
    expect(texts.filter((text) => !isVisible(text))).toEqual([]);
  });

  it("is cleaned in the results of a search, an answer and a changed title", async () => {
    const path = `/index/odd/video/${video.asset_id}`;
    const changed = await client.json("PATCH", path, { json: { title: HOSTILE.slice(0, 300) } });
    const found = await client.json("POST", "/index/odd/search", { json: { query: "cat" } });
    const answer = await client.json("GET", "/index/odd/answer?query=cat");
    expect(found.segments[0].transcript).toContain("cat");
    const texts = [...textsOf([changed, found, answer])];
    expect(texts.filter((text) => !isVisible(text))).toEqual([]);
  });

  it.each(["vtt", "srt", "txt"])("ends no line of a transcript as %s", async (format) => {
    const path = `/index/odd/video/${video.asset_id}/transcript?format=${format}`;
    const text = await (await client.send("GET", path)).text();
    expect(text.split(LINE_END)).toEqual(text.split("\n"));
    expect(isVisible(text)).toBe(true);
  });

  it("ends no line of an edit list and of exports as NDJSON", async () => {
    const edl = await client.send("GET", `/index/odd/video/${video.asset_id}/edl`);
    const list = await edl.text();
    expect(list.split(LINE_END)).toEqual(list.split("\r\n"));
    const metadata = { note: TEXTS };
    const path = `/index/odd/video/${video.asset_id}`;
    await client.json("PATCH", path, { json: { metadata } });
    const headers = { accept: "application/x-ndjson" };
    for (const each of ["/index/odd/export", "/index/odd/traverse"]) {
      const text = await (await client.send("GET", each, { headers })).text();
      const lines = text.split(LINE_END).filter((line) => line !== "");
      const values = lines.map((line): Json => JSON.parse(line));
      expect(JSON.stringify(values)).toContain("cat");
    }
  });

  it("is cleaned in what MCP tools say", async () => {
    const mcp = await connect(client);
    for (const [name, args] of [
      ["list_indices", {}],
      ["list_assets", { index_name: "odd" }],
      ["list_watches", { index_name: "odd" }],
      ["search", { index_name: "odd", query: "cat" }],
    ] as const) {
      const { content } = await mcp.callTool({ name, arguments: args });
      expect([name, [...textsOf(content)].every(isVisible)]).toEqual([name, true]);
    }
  });
});
