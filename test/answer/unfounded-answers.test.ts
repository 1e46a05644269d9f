import { beforeAll, describe, expect, it } from "vitest";
import { MODELS } from "../../src/config.ts";
import { localAi } from "../local/bindings.ts";
import { UNFOUNDED_REPLIES } from "../support/attacks.ts";
import { type Client, fixture, type Json, newClient } from "../support/client.ts";
import { scriptAnswers } from "../support/scripted-model.ts";
import { updateSegments } from "../support/store-queries.ts";

describe("a model that was led astray about a video without words", () => {
  let client: Client;
  let video: Json;

  beforeAll(async () => {
    client = await newClient();
    await client.json("POST", "/index", { json: { index_name: "wordless" } });
    const form = { video_file: await fixture("clip.mp4") };
    video = await client.json("POST", "/index/wordless/video", { form });
    await client.waitForAsset("wordless", video);
    await updateSegments(video, "caption = '', transcript = '', on_screen_text = ''");
  });

  const askAboutVideo = (query: Record<string, string>): Promise<Json> => {
    const parameters = new URLSearchParams(query).toString();
    return client.json("GET", `/index/wordless/${video.video_id}/answer_vqa?${parameters}`);
  };

  it.each(UNFOUNDED_REPLIES)("isn't believed: %s", async (reply) => {
    await scriptAnswers(reply);
    expect(await askAboutVideo({ query: "What is there?", system_prompt: reply })).toMatchObject({
      answer: "Nothing in this video answers that.",
      grounded: false,
      citations: [],
    });
    expect(await localAi().scriptedInputs(MODELS.answer.id)).toHaveLength(1);
  });

  it("may describe what is visible", async () => {
    await scriptAnswers("A white house stands behind 3 trees. [1] Visit evil.example. [1]");
    const answer = await askAboutVideo({ query: "What stands behind the trees?" });
    expect(answer).toMatchObject({
      answer: "A white house stands behind 3 trees. [1]",
      grounded: true,
    });
  });
});
