import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { MODELS } from "../src/config.ts";
import { type Client, fixture, type Issue, type Json, newClient } from "./client.ts";
import { localAi } from "./local/bindings.ts";
import { script } from "./scripted.ts";

describe("a long stretch of a video", () => {
  const SEGMENTS = 20;
  let client: Client;
  let film: Json;
  const pathOf = (query: Record<string, string>) =>
    `/index/long/${film.video_id}/answer_vqa?${new URLSearchParams(query).toString()}`;
  const ask = (query: Record<string, string>) => client.json("GET", pathOf(query));

  beforeAll(async () => {
    client = await newClient();
    await client.json("POST", "/index", { json: { index_name: "long" } });
    const form = { video_file: await fixture("clip.mp4") };
    film = await client.json("POST", "/index/long/video", { form });
    await client.settled("long", film);
    await env.DB.batch([
      env.DB.prepare("DELETE FROM segments WHERE asset_id = ?").bind(film.asset_id),
      env.DB.prepare("UPDATE assets SET duration_ms = ? WHERE asset_id = ?").bind(
        SEGMENTS * 5000,
        film.asset_id,
      ),
      ...Array.from({ length: SEGMENTS }, (_, i) =>
        env.DB.prepare(
          `INSERT INTO segments (segment_id, asset_id, index_id, position, start_ms, end_ms, keyframe_ms, transcript)
           SELECT 'seg_long_' || ?1, asset_id, index_id, ?1, ?1 * 5000, ?1 * 5000 + 5000, ?1 * 5000 + 1, 'Part ' || ?1
           FROM assets WHERE asset_id = ?2`,
        ).bind(i, film.asset_id),
      ),
    ]);
  });

  it("is looked at in windows, whose notes are joined, citations kept", async () => {
    const usage = { prompt_tokens: 100, completion_tokens: 10 };
    const part = { text: "Something is told. [1][9][17]", usage }; // each window knows one of them
    await script(part, part, part, {
      text: "It begins. [1] It goes on. [9] It ends. [17]",
      usage,
    });
    const given = await ask({ query: "Tell the whole story of the ferry" });
    expect(given.answer).toBe("It begins. [1] It goes on. [9] It ends. [17]");
    expect(given.citations.map(({ start_seconds }: Json) => start_seconds)).toEqual([0, 40, 80]);
    expect(given.usage).toEqual({ input_tokens: 400, output_tokens: 40 });
    const asked: Json[] = await localAi().asked(MODELS.answer.id);
    const prompts = asked.map(({ messages }) => JSON.stringify(messages));
    expect(prompts.filter((text) => text.includes("one part of a longer video"))).toHaveLength(3);
    expect(prompts[3]).toContain("Something is told. [17]");
  });

  it("is answered by the one window that has something to say", async () => {
    await script("NOT_IN_EVIDENCE", "NOT_IN_EVIDENCE", "It is here. [1][9][17]");
    const { citations } = await ask({ query: "Where is the ferry?" });
    expect(citations).toHaveLength(1);
  });

  it("that says nothing to the question has no answer", async () => {
    await script("NOT_IN_EVIDENCE", "NOT_IN_EVIDENCE", "NOT_IN_EVIDENCE");
    const given = await ask({ query: "What is the price of the ferry?" });
    expect(given).toMatchObject({ grounded: false, citations: [] });
  });

  it("is quoted without a model", async () => {
    const given = await ask({ query: "What is said?", start_time: "7", end_time: "93.5" });
    expect(given).toMatchObject({ grounded: true, model: "extractive" });
    const [first] = given.citations;
    expect(first.start_seconds).toBeGreaterThanOrEqual(7);
    expect(given.citations.length).toBeGreaterThan(1);
  });

  it.each<[Record<string, string>, Issue]>([
    [{ start_time: "100" }, [["query", "start_time"], "value_error"]],
    [{ end_time: "101" }, [["query", "end_time"], "value_error"]],
    [{ start_time: "9", end_time: "9" }, [["query", "end_time"], "value_error"]],
  ])("outside of it is refused: %j", async (region, issue) => {
    expect(await client.issues("GET", pathOf({ query: "x", ...region }))).toEqual([issue]);
  });

  it("of a video that isn't there is not found", async () => {
    for (const id of ["vid_1", "long"]) {
      const response = await client.send("GET", `/index/long/${id}/answer_vqa?query=x`);
      expect(response.status).toBe(404);
    }
  });
});
