import { beforeAll, describe, expect, it } from "vitest";
import { type Client, fixture, type Json } from "../support/client.ts";
import { connect } from "../support/mcp-client.ts";
import { createSampleIndex } from "../support/sample-index.ts";

const WORDLESS = ["?", "...", "🐐", "   ", "„“ —", "\u200b"];

let client: Client;
let video: Json;

beforeAll(async () => {
  ({ client, video } = await createSampleIndex());
});

const parametersOf = (query: Record<string, string>) => new URLSearchParams(query).toString();

describe("a query without a word or a number", () => {
  it.each(WORDLESS)("is a 422 for a search, also in a job: %j", async (query) => {
    for (const queue_job of [false, true]) {
      const body = { query, queue_job };
      expect(await client.issues("POST", "/index/trip/search", { json: body })).toEqual([
        [["body", "query"], "value_error"],
      ]);
    }
  });

  it.each(WORDLESS)("is a 422 for every answer: %j", async (query) => {
    for (const path of ["answer", "answer_vqa", `${video.video_id}/answer_vqa`]) {
      const url = `/index/trip/${path}?${parametersOf({ query })}`;
      expect(await client.issues("GET", url)).toEqual([[["query", "query"], "value_error"]]);
    }
  });

  it("is a 422 as the `search_term` of an answer", async () => {
    const url = `/index/trip/answer_vqa?${parametersOf({ query: "Who?", search_term: "!?" })}`;
    expect(await client.issues("GET", url)).toEqual([[["query", "search_term"], "value_error"]]);
  });

  it("is an error of the MCP tools that names the field", async () => {
    const mcp = await connect(client);
    for (const name of ["search", "answer"]) {
      const result: Json = await mcp.callTool({
        name,
        arguments: { index_name: "trip", query: "?" },
      });
      expect(result.isError).toBe(true);
      expect(result.content[0].text).toMatch(/query.*needs a word or a number/s);
    }
    await mcp.close();
  });

  it("adds nothing to a search by a stored example", async () => {
    const example = { similar_to: video.asset_id };
    const scoresOf = ({ segments }: Json) =>
      segments.map(({ segment_id, score }: Json) => [segment_id, score]);
    const plain = await client.json("POST", "/index/trip/search", { json: example });
    const json = { ...example, query: "?" };
    expect(scoresOf(await client.json("POST", "/index/trip/search", { json }))).toEqual(
      scoresOf(plain),
    );
  });

  it("adds nothing to a search by an image", async () => {
    const search = async (fields: Record<string, string>) => {
      const form = { ...fields, image_file: await fixture("words.jpg") };
      const { segments } = await client.json("POST", "/index/trip/search_image", { form });
      return segments.map(({ segment_id, score }: Json) => [segment_id, score]);
    };
    expect(await search({ query: "?!" })).toEqual(await search({}));
  });
});

describe("a query of one word or number of any script", () => {
  it.each(["7", "x", "山", "٣", "क", "Ω"])("is searched for: %s", async (query) => {
    const json = { query };
    const { segments } = await client.json("POST", "/index/trip/search", { json });
    for (const { evidence } of segments) {
      expect(evidence.filter(({ score }: Json) => score <= 0)).toEqual([]);
    }
  });
});
