import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { MODELS } from "../../src/config.ts";
import { updateProperties } from "../../src/store/d1/assets.ts";
import { localAi } from "../local/bindings.ts";
import { type Client, fixture, type Issue, type Json, newClient } from "../support/client.ts";
import { scriptAnswers } from "../support/scripted-model.ts";
import { assetRefOf, OF_ASSET, runInIndex } from "../support/store-queries.ts";

describe("an answer about a long video", () => {
  const SEGMENTS = 20;
  let client: Client;
  let video: Json;
  const answerPath = (query: Record<string, string>) =>
    `/index/long/${video.video_id}/answer_vqa?${new URLSearchParams(query).toString()}`;
  const ask = (query: Record<string, string>) => client.json("GET", answerPath(query));

  beforeAll(async () => {
    client = await newClient();
    await client.json("POST", "/index", { json: { index_name: "long" } });
    const form = { video_file: await fixture("clip.mp4") };
    video = await client.json("POST", "/index/long/video", { form });
    await client.waitForAsset("long", video);
    const ref = await assetRefOf(video);
    await updateProperties(env.DB, ref.assetId, { durationMs: SEGMENTS * 5000 });
    await runInIndex(ref, `DELETE FROM segments WHERE ${OF_ASSET}`, ref.assetId);
    await runInIndex(
      ref,
      `INSERT INTO segments (segment_id, asset_key, position, start_ms, end_ms, keyframe_ms,
         transcript, indexed)
       SELECT 'seg_long_' || key, asset_key, key, key * 5000, key * 5000 + 5000, key * 5000 + 1,
         'Part ' || key, 0
       FROM json_each(?), assets WHERE asset_id = ?`,
      JSON.stringify(Array.from({ length: SEGMENTS })),
      ref.assetId,
    );
  });

  it("combines the answers about its windows, with their citations", async () => {
    const usage = { prompt_tokens: 100, completion_tokens: 10 };
    // each window has one of the sources
    const windowReply = { text: "Each part is told. [1][9][17]", usage };
    await scriptAnswers(windowReply, windowReply, windowReply, {
      text: "A part begins. [1] A part follows. [9] A part ends. [17]",
      usage,
    });
    const result = await ask({ query: "Tell the whole story of the ferry" });
    expect(result.answer).toBe("A part begins. [1] A part follows. [2] A part ends. [3]");
    expect(result.citations.map(({ start_seconds }: Json) => start_seconds)).toEqual([0, 40, 80]);
    expect(result.usage).toEqual({ input_tokens: 400, output_tokens: 40 });
    const inputs: Json[] = await localAi().scriptedInputs(MODELS.answer.id);
    const prompts = inputs.map(({ messages }) => JSON.stringify(messages));
    expect(prompts.filter((text) => text.includes("one part of a longer video"))).toHaveLength(3);
    expect(prompts[3]).toContain("Each part is told. [17]");
  });

  it("is that of the only window with an answer", async () => {
    await scriptAnswers("NOT_IN_EVIDENCE", "NOT_IN_EVIDENCE", "It is in this part. [1][9][17]");
    const { citations } = await ask({ query: "Where is the ferry?" });
    expect(citations).toHaveLength(1);
  });

  it("is ungrounded if no window has an answer", async () => {
    await scriptAnswers("NOT_IN_EVIDENCE", "NOT_IN_EVIDENCE", "NOT_IN_EVIDENCE");
    const result = await ask({ query: "What is the price of the ferry?" });
    expect(result).toMatchObject({
      answer: "Nothing in this video answers that.",
      grounded: false,
      citations: [],
    });
  });

  it("returns 503 with `Retry-After` if its windows meet a rate limit, and nothing is quoted", async () => {
    await localAi().inject(MODELS.answer.id, "3021", 3);
    const response = await client.send("GET", answerPath({ query: "What does the ferry cost?" }));
    expect(response.status).toBe(503);
    expect(Number(response.headers.get("retry-after"))).toBeGreaterThanOrEqual(65);
  });

  it("quotes the requested time range without a model", async () => {
    const result = await ask({ query: "What is said?", start_time: "7", end_time: "93.5" });
    expect(result).toMatchObject({ grounded: true, model: "extractive" });
    const [first] = result.citations;
    expect(first.start_seconds).toBeGreaterThanOrEqual(7);
    expect(result.citations.length).toBeGreaterThan(1);
  });

  it.each<[Record<string, string>, Issue]>([
    [{ start_time: "100" }, [["query", "start_time"], "value_error"]],
    [{ end_time: "101" }, [["query", "end_time"], "value_error"]],
    [{ start_time: "9", end_time: "9" }, [["query", "end_time"], "value_error"]],
  ])("with an invalid time range returns 422: %j", async (range, issue) => {
    expect(await client.issues("GET", answerPath({ query: "x", ...range }))).toEqual([issue]);
  });

  it.each([
    ["queued", null, /Only a ready video can answer a question; this is queued/],
    ["failed", { code: "no_video_track", message: "No video in it." }, /track\): No video in it\./],
  ])("of a video that is %s returns 409 and says so", async (state, error, detail) => {
    const setState = (name: string, failure: object | null) =>
      env.DB.prepare("UPDATE assets SET state = ?, error = ? WHERE asset_id = ?")
        .bind(name, failure && JSON.stringify(failure), video.asset_id)
        .run();
    await setState(state, error);
    const response = await client.send("GET", answerPath({ query: "Who is it?" }));
    await setState("ready", null);
    expect(response.status).toBe(409);
    expect(await response.json()).toMatchObject({ detail: expect.stringMatching(detail) });
  });

  it("with an unknown video returns 404", async () => {
    for (const id of ["vid_1", "long"]) {
      const response = await client.send("GET", `/index/long/${id}/answer_vqa?query=x`);
      expect(response.status).toBe(404);
    }
  });
});
