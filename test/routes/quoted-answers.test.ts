import { beforeAll, describe, expect, it } from "vitest";
import type { Client, Json } from "../support/client.ts";
import { createSampleIndex } from "../support/sample-index.ts";

let client: Client;
let video: Json;

beforeAll(async () => {
  ({ client, video } = await createSampleIndex());
});

const answer = (query: string): Promise<Json> =>
  client.json("GET", `/index/trip/answer?${new URLSearchParams({ query }).toString()}`);

describe("an answer without a model", () => {
  it("that isn't grounded has the closest moments, at most five, by score", async () => {
    const query = "What does the keeper of the lighthouse feed the goats with?";
    const { grounded, citations, related } = await answer(query);
    expect({ grounded, citations }).toEqual({ grounded: false, citations: [] });
    expect(related[0]).toMatchObject({ video_id: video.asset_id, clip_url: expect.any(String) });
    const scores = related.map(({ score }: Json) => score);
    expect(scores.length).toBeLessThanOrEqual(5);
    expect(scores).toEqual(scores.toSorted((a: number, b: number) => b - a));
  });

  it.each([
    ["Which animals dwell with the keeper?", "The keeper lives here with two goats. [1]"],
    ["What colour are the goats?", null],
  ])("to %j, in other words than the source, is %s", async (query, quoted) => {
    const { answer: text, grounded, related } = await answer(query);
    expect(grounded).toBe(quoted !== null);
    if (quoted !== null) expect(text).toBe(quoted);
    expect(related.length > 0).toBe(quoted === null);
  });
});
