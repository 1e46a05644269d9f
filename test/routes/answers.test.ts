import { env } from "cloudflare:workers";
import { EventSourceParserStream } from "eventsource-parser/stream";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Reply } from "../../local/scripted-chat.ts";
import { ACCOUNT_LIMITS, MODELS } from "../../src/config.ts";
import { localAi } from "../local/bindings.ts";
import { type Client, type Json } from "../support/client.ts";
import { createSampleIndex } from "../support/sample-index.ts";
import { scriptAnswers } from "../support/scripted-model.ts";
import { waitUntil } from "../support/wait.ts";

let client: Client;
let video: Json;

beforeAll(async () => {
  ({ client, video } = await createSampleIndex());
});

const MODEL = MODELS.answer.id;
const GOATS = "Who lives with the goats?";

let questionCount = 0;

/** Makes each question unique, so that none is answered from the cache. */
function answerUrl(path: string, query: Record<string, string>): string {
  const language = `en-x-${questionCount++}`;
  return `/index/trip/${path}?${new URLSearchParams({ language, ...query }).toString()}`;
}
const answer = (query: Record<string, string>, path = "answer"): Promise<Json> =>
  client.json("GET", answerUrl(path, query));

interface Message {
  event: string;
  data: Json;
}

async function readMessages(response: Response): Promise<Message[]> {
  expect(response.headers.get("content-type")).toMatch(/^text\/event-stream/);
  const events = response
    .body!.pipeThrough(new TextDecoderStream())
    .pipeThrough(new EventSourceParserStream());
  const messages: Message[] = [];
  for await (const { event, data } of events) {
    messages.push({ event: event ?? "", data: JSON.parse(data) });
  }
  return messages;
}

describe("an answer without a model", () => {
  it.each([
    ["answer", {}],
    ["answer_vqa", {}],
    ["answer_vqa", { query: "Who lives with them?", search_term: GOATS }],
  ])("of %s quotes the index", async (path, query) => {
    expect(await answer({ query: GOATS, ...query }, path)).toMatchObject({
      answer: "The keeper lives here with two goats. [1]",
      grounded: true,
      citations: [{ marker: 1, video_id: video.video_id }],
      model: "extractive",
      usage: { input_tokens: 0, output_tokens: 0 },
    });
  });

  it("is Markdown on request, with links to the cited clips", async () => {
    const { answer: text, citations } = await answer({ query: GOATS, markdown: "true" });
    expect(text).toContain("- The keeper lives here with two goats. [[1]](");
    expect(text).toContain(citations[0].clip_url);
  });

  it.each(["answer", "answer_vqa"])("of %s says so if the index has no answer", async (path) => {
    const query = "What is the capital gains tax in Norway?";
    const { answer: text, ...rest } = await answer({ query }, path);
    expect(text).toMatch(/Nothing in this index/);
    expect(rest).toMatchObject({ grounded: false, citations: [], model: "extractive" });
  });

  it.each([
    [{ query: GOATS }, "The keeper lives here with two goats. [1]", [5, 6]],
    [{ query: "What is said?", end_time: "2" }, "Welcome to the lighthouse.", [0, 2]],
    [{ query: GOATS, end_time: "2" }, "Nothing in this video answers that.", null],
  ])("about a time range of a video quotes that range only: %j", async (query, text, times) => {
    const result = await answer(query, `${video.video_id}/answer_vqa`);
    expect(result.answer).toContain(text);
    const [first] = result.citations;
    if (times === null) expect(first).toBeUndefined();
    else expect(first.start_seconds).toBeLessThan(times[1]!);
  });
});

describe("an answer by a model", () => {
  it("has the cited sentences only, and the token usage", async () => {
    await scriptAnswers({
      text: "The keeper lives there with two goats. [1] Goats are nice. It is warm [9].",
      usage: { prompt_tokens: 90, completion_tokens: 20 },
    });
    const result = await answer({ query: GOATS });
    expect(result).toMatchObject({
      grounded: true,
      usage: { input_tokens: 90, output_tokens: 20 },
    });
    expect(result.answer).toMatch(/^The keeper lives there with two goats\W+\[1\]\W*$/);
    expect(result.citations.map(({ marker }: Json) => marker)).toEqual([1]);
    expect(result.model).not.toBe("extractive");
    const [input]: Json[] = await localAi().scriptedInputs(MODEL);
    const [system, user] = input.messages;
    expect(system.content).toContain("numbered evidence only");
    expect(user.content).toContain('"said":"The keeper lives here with two goats."');
    expect(user.content).toContain(GOATS);
  });

  it("says so if the model finds none", async () => {
    await scriptAnswers("NOT_IN_EVIDENCE", "NOT_IN_EVIDENCE [1].");
    for (let i = 0; i < 2; i++) {
      expect(await answer({ query: GOATS })).toMatchObject({ grounded: false, citations: [] });
    }
  });

  it.each<[string, Reply]>([
    ["cites nothing", { text: "The keeper lives alone." }],
    ["cites an unknown source", { text: "He lives with wolves [7]." }],
    ["invents a quotation", { text: 'He says "the goats are my only friends" [1].' }],
    ["refuses", { text: "I'm sorry, but I can't help with that." }],
    ["is empty", { text: "" }],
    ["is only reasoning", { text: "", reasoning: "Is it the keeper? [1]" }],
    ["ends early", { text: "The keeper lives", isTruncated: true, deltaCount: 4 }],
  ])("that %s is replaced by quotes", async (_, reply) => {
    await scriptAnswers(reply);
    expect(await answer({ query: GOATS })).toMatchObject({
      answer: "The keeper lives here with two goats. [1]",
      model: "extractive",
    });
  });

  it.each(["3036", "3040", "3007", "malformed"] as const)(
    "that fails with %s is replaced by quotes",
    async (fault) => {
      await scriptAnswers("With wolves. [1]");
      await localAi().inject(MODEL, fault);
      expect(await answer({ query: GOATS })).toMatchObject({ model: "extractive", grounded: true });
    },
  );

  it("that ends early has the sentences verified before", async () => {
    const text = `The keeper has two goats. [1] ${"And so on. ".repeat(40)}`;
    await scriptAnswers({ text, isTruncated: true, deltaCount: 20 });
    const result = await answer({ query: GOATS });
    expect(result.answer).toBe("The keeper has two goats. [1]");
  });

  it("at the token limit loses its last sentence", async () => {
    const text = "The keeper has two goats. [1] And these are [1] goats th";
    await scriptAnswers({ text, finishReason: "length" });
    expect((await answer({ query: GOATS })).answer).toBe("The keeper has two goats. [1]");
  });

  it("is generated with the requested style as data", async () => {
    await scriptAnswers("Ahoy, the keeper. [1]");
    await answer({ query: GOATS, system_prompt: "Talk like a sailor", language: "de" });
    const [{ messages }]: Json[] = await localAi().scriptedInputs(MODEL);
    expect(messages[0].content).toMatch(/wishes about tone.*"Talk like a sailor"/);
    expect(messages[0].content).toContain('"de"');
  });

  it("of answer_vqa is generated from images, with the requested `top_p`", async () => {
    await scriptAnswers("Boats on a river. [1]");
    const result = await answer(
      { query: "What is on the river?", search_term: "boats", top_p: "0.4" },
      "answer_vqa",
    );
    expect(result.answer).toBe("Boats on a river. [1]");
    const [input]: Json[] = await localAi().scriptedInputs(MODEL);
    expect(input.top_p).toBe(0.4);
    const content: Json[] = input.messages[1].content;
    expect(content.at(-1)!.text).toBe('Subject: "boats"\nQuestion: "What is on the river?"');
    const images = content.filter(({ type }) => type === "image_url");
    expect(images.length).toBeGreaterThan(0);
    expect(images[0]!.image_url.url).toMatch(/^data:image\/jpeg;base64,\/9j\//);
  });

  it("about a time range of a video is generated from frames of that range", async () => {
    await scriptAnswers("A house [1].");
    const range = { start_time: "1.2", end_time: "1.9" };
    const result = await answer(
      { query: "Is there a house?", ...range },
      `${video.video_id}/answer_vqa`,
    );
    expect(result.citations[0]).toMatchObject({ start_seconds: 1.2, end_seconds: 1.9 });
    const [input]: Json[] = await localAi().scriptedInputs(MODEL);
    const content: Json[] = input.messages[1].content;
    expect(content.filter(({ type }) => type === "image_url")).toHaveLength(1);
    expect(content.map(({ text }) => text).join("\n")).toContain('"time":"0:01–0:01"');
  });
});

describe("a streamed answer", () => {
  it.each<[string, Reply]>([
    ["chunks", { text: "With the keeper. [1] They are two. [1]", deltaCount: 9 }],
    ["older models' events", { text: "With the keeper. [1]", style: "response", deltaCount: 5 }],
    ["a whole response", { text: "With the keeper. [1]", style: "whole" }],
  ])("from %s has citations, deltas and the whole answer, in this order", async (_, reply) => {
    await scriptAnswers(reply);
    const messages = await readMessages(
      await client.send("GET", answerUrl("answer", { query: GOATS, stream: "true" })),
    );
    expect(messages.map(({ event }) => event).join(" ")).toMatch(/^citations( delta)+ done$/);
    const deltas = messages.filter(({ event }) => event === "delta");
    const { data } = messages.at(-1)!;
    expect(
      deltas
        .map((delta) => delta.data.text)
        .join("")
        .trim(),
    ).toBe(data.answer);
    expect(data.answer).toBe(reply.text);
    expect(messages[0]!.data[0]).toMatchObject({ marker: 1, video_id: video.video_id });
  });

  it("is requested by the `Accept` header, too, and quotes without a model", async () => {
    const headers = { accept: "text/event-stream" };
    const response = await client.send("GET", answerUrl("answer", { query: GOATS }), { headers });
    const messages = await readMessages(response);
    expect(messages.map(({ event }) => event)).toEqual(["citations", "delta", "done"]);
  });

  it("starts before the model ends, and stops the model when the client disconnects", async () => {
    const text = `With. [1] ${"They are two. [1] ".repeat(50)}`;
    await scriptAnswers({ text, deltaCount: 100, delayMs: 1000 }); // 100 seconds
    const readUsage = async () => (await client.json("GET", "/stats")).usage.today.answers;
    const before = await readUsage();
    const response = await client.send(
      "GET",
      answerUrl("answer", { query: GOATS, stream: "true" }),
    );
    const reader = response.body!.getReader();
    const { value } = await reader.read();
    expect(new TextDecoder().decode(value)).toMatch(/^event: citations\ndata: /);
    await reader.cancel();
    // metered at its end
    await waitUntil(async () => (await readUsage()) === before + 1);
  });
});

it("a repeated question is answered anew, and isn't stored by clients", async () => {
  const url = answerUrl("answer", { query: GOATS });
  await scriptAnswers("With the keeper. [1]", "With the goats. [1]");
  const first = await client.send("GET", url);
  expect(first.headers.get("cache-control")).toBe("private, no-store");
  expect((await first.json<Json>()).answer).toBe("With the keeper. [1]");
  expect((await client.json("GET", url)).answer).toBe("With the goats. [1]");
});

describe("the answers of a day", () => {
  beforeEach(() => scriptAnswers("With the keeper. [1]"));

  it("are limited per account", async () => {
    const { account_id } = await client.json("POST", "/init");
    await env.DB.prepare("UPDATE usage SET answers = ? WHERE account_id = ?")
      .bind(ACCOUNT_LIMITS.answers_per_day, account_id)
      .run();
    const response = await client.send("GET", answerUrl("answer", { query: GOATS }));
    expect(response.status).toBe(429);
    expect(Number(response.headers.get("retry-after"))).toBeGreaterThan(0);
    const { detail }: Json = await response.json();
    expect(detail).toContain("midnight");
  });
});
