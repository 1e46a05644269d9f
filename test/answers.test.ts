import { env } from "cloudflare:workers";
import { EventSourceParserStream } from "eventsource-parser/stream";
import { beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import type { Reply } from "../local/scripted-chat.ts";
import { ACCOUNT_LIMITS, MODELS } from "../src/config.ts";
import { type Client, type Json, newClient } from "./client.ts";
import { localAi } from "./local/bindings.ts";
import { script } from "./scripted.ts";
import { buildTrip } from "./trip.ts";

let client: Client;
let video: Json;

beforeAll(async () => {
  ({ client, video } = await buildTrip());
}, 60_000);

const MODEL = MODELS.answer.id;
const GOATS = "Who lives with the goats?";

let asked = 0;

/** No two questions are the same, so that none is answered from the cache. */
function url(path: string, query: Record<string, string>): string {
  const language = `en-x-${asked++}`;
  return `/index/trip/${path}?${new URLSearchParams({ language, ...query }).toString()}`;
}
const answer = (query: Record<string, string>, path = "answer"): Promise<Json> =>
  client.json("GET", url(path, query));

interface Message {
  event: string;
  data: Json;
}

async function messagesOf(response: Response): Promise<Message[]> {
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

describe("without a model, an answer", () => {
  it.each([
    ["answer", {}],
    ["answer_vqa", {}],
    ["answer_vqa", { query: "Who is it?", search_term: GOATS }],
  ])("of %s is quoted", async (path, query) => {
    expect(await answer({ query: GOATS, ...query }, path)).toMatchObject({
      answer: "The keeper lives here with two goats. [1]",
      grounded: true,
      citations: [{ marker: 1, video_id: video.video_id }],
      model: "extractive",
      usage: { input_tokens: 0, output_tokens: 0 },
    });
  });

  it("is Markdown where wished, with links to the moment", async () => {
    const { answer: text, citations } = await answer({ query: GOATS, markdown: "true" });
    expect(text).toContain("- The keeper lives here with two goats. [[1]](");
    expect(text).toContain(citations[0].clip_url);
  });

  it.each(["answer", "answer_vqa"])("of %s says so when the index doesn't", async (path) => {
    const query = "What is the capital gains tax in Norway?";
    const { answer: text, ...rest } = await answer({ query }, path);
    expect(text).toMatch(/Nothing in this index/);
    expect(rest).toMatchObject({ grounded: false, citations: [], model: "extractive" });
  });

  it.each([
    [{ query: GOATS }, "The keeper lives here with two goats. [1]", [5, 6]],
    [{ query: "What is said?", end_time: "2" }, "Welcome to the lighthouse.", [0, 2]],
    [{ query: GOATS, end_time: "2" }, "Nothing in this index answers that.", null],
  ])("about a stretch of a video keeps to it: %j", async (query, text, times) => {
    const given = await answer(query, `${video.video_id}/answer_vqa`);
    expect(given.answer).toContain(text);
    const [first] = given.citations;
    if (times === null) expect(first).toBeUndefined();
    else expect(first.start_seconds).toBeLessThan(times[1]!);
  });
});

describe("an answer by a model", () => {
  it("holds what its citations prove, and says what it took", async () => {
    await script({
      text: "The keeper lives there with two goats. [1] Goats are nice. It is warm [9].",
      usage: { prompt_tokens: 90, completion_tokens: 20 },
    });
    const given = await answer({ query: GOATS });
    expect(given).toMatchObject({ grounded: true, usage: { input_tokens: 90, output_tokens: 20 } });
    expect(given.answer).toMatch(/^The keeper lives there with two goats\W+\[1\]\W*$/);
    expect(given.citations.map(({ marker }: Json) => marker)).toEqual([1]);
    expect(given.model).not.toBe("extractive");
    const [input]: Json[] = await localAi().asked(MODEL);
    const [system, user] = input.messages;
    expect(system.content).toContain("numbered evidence only");
    expect(user.content).toContain('"said":"The keeper lives here with two goats."');
    expect(user.content).toContain(GOATS);
  });

  it("says so where it finds none", async () => {
    await script("NOT_IN_EVIDENCE", "NOT_IN_EVIDENCE [1].");
    for (let i = 0; i < 2; i++) {
      expect(await answer({ query: GOATS })).toMatchObject({ grounded: false, citations: [] });
    }
  });

  it.each<[string, Reply]>([
    ["proves nothing", { text: "The keeper lives alone." }],
    ["cites what isn't there", { text: "He lives with wolves [7]." }],
    ["makes up a quotation", { text: 'He says "the goats are my only friends" [1].' }],
    ["refuses", { text: "I'm sorry, but I can't help with that." }],
    ["is silent", { text: "" }],
    ["only thinks", { text: "", thinks: "Is it the keeper? [1]" }],
    ["breaks off", { text: "The keeper lives", breaksOff: true, pieces: 4 }],
  ])("that %s is quoted instead", async (_, reply) => {
    await script(reply);
    expect(await answer({ query: GOATS })).toMatchObject({
      answer: "The keeper lives here with two goats. [1]",
      model: "extractive",
    });
  });

  it.each(["3036", "3040", "3007", "malformed"] as const)(
    "that fails with %s is quoted, and asked for again the next time",
    async (fault) => {
      const once = url("answer", { query: GOATS });
      await script("With wolves. [1]");
      await localAi().inject(MODEL, fault);
      const first = await client.send("GET", once);
      expect(first.headers.get("etag")).toBeNull();
      expect(await first.json()).toMatchObject({ model: "extractive", grounded: true });
      await script("With the keeper. [1]");
      expect(await client.json("GET", once)).toMatchObject({ answer: "With the keeper. [1]" });
    },
  );

  it("keeps what it proved before it broke off", async () => {
    const text = `The keeper has two goats. [1] ${"And so on. ".repeat(40)}`;
    await script({ text, breaksOff: true, pieces: 20 });
    const given = await answer({ query: GOATS });
    expect(given.answer).toBe("The keeper has two goats. [1]");
  });

  it("that got too long loses the sentence that was cut off", async () => {
    const text = "The keeper has two goats. [1] And these are [1] goats th";
    await script({ text, finish: "length" });
    expect((await answer({ query: GOATS })).answer).toBe("The keeper has two goats. [1]");
  });

  it("is told the asker's wishes as wishes", async () => {
    await script("Ahoy, the keeper. [1]");
    await answer({ query: GOATS, system_prompt: "Talk like a sailor", language: "de" });
    const [{ messages }]: Json[] = await localAi().asked(MODEL);
    expect(messages[0].content).toMatch(/wishes about tone.*"Talk like a sailor"/);
    expect(messages[0].content).toContain('"de"');
  });

  it("of answer_vqa is shown the pictures, and samples as wished", async () => {
    await script("Boats on a river. [1]");
    const given = await answer(
      { query: "What is on the river?", search_term: "boats", top_p: "0.4" },
      "answer_vqa",
    );
    expect(given.answer).toBe("Boats on a river. [1]");
    const [input]: Json[] = await localAi().asked(MODEL);
    expect(input.top_p).toBe(0.4);
    const pictures = input.messages[1].content.filter(({ type }: Json) => type === "image_url");
    expect(pictures.length).toBeGreaterThan(0);
    expect(pictures[0].image_url.url).toMatch(/^data:image\/jpeg;base64,\/9j\//);
  });

  it("about a stretch of a video is shown frames of it", async () => {
    await script("A house [1].");
    const region = { start_time: "1.2", end_time: "1.9" };
    const given = await answer(
      { query: "What is there?", ...region },
      `${video.video_id}/answer_vqa`,
    );
    expect(given.citations[0]).toMatchObject({ start_seconds: 1.2, end_seconds: 1.9 });
    const [input]: Json[] = await localAi().asked(MODEL);
    const content: Json[] = input.messages[1].content;
    expect(content.filter(({ type }) => type === "image_url")).toHaveLength(1);
    expect(content.map(({ text }) => text).join("\n")).toContain('"time":"0:01–0:01"');
  });
});

describe("a stream", () => {
  it.each<[string, Reply]>([
    ["chunks", { text: "With the keeper. [1] They are two. [1]", pieces: 9 }],
    ["older models' events", { text: "With the keeper. [1]", style: "response", pieces: 5 }],
    ["a whole answer", { text: "With the keeper. [1]", style: "whole" }],
  ])("of %s has citations, deltas and the whole, in this order", async (_, reply) => {
    await script(reply);
    const messages = await messagesOf(
      await client.send("GET", url("answer", { query: GOATS, stream: "true" })),
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

  it("is asked for by the Accept header, too, and quotes where there is no model", async () => {
    const headers = { accept: "text/event-stream" };
    const response = await client.send("GET", url("answer", { query: GOATS }), { headers });
    const messages = await messagesOf(response);
    expect(messages.map(({ event }) => event)).toEqual(["citations", "delta", "done"]);
  });

  it("begins before the model has ended, and stops it when nobody listens any more", async () => {
    const text = `With. [1] ${"They are two. [1] ".repeat(50)}`;
    await script({ text, pieces: 100, delayMs: 1000 }); // a minute and a half
    const used = async () => (await client.json("GET", "/stats")).usage.today.answers;
    const before = await used();
    const response = await client.send("GET", url("answer", { query: GOATS, stream: "true" }));
    const reader = response.body!.getReader();
    const { value } = await reader.read();
    expect(new TextDecoder().decode(value)).toMatch(/^event: citations\ndata: /);
    await reader.cancel();
    await vi.waitUntil(async () => (await used()) === before + 1, 10_000); // metered at its end
  });
});

describe("the same question", () => {
  const path = () => url("answer", { query: GOATS });

  it("of an unchanged index has the same answer, and none where it is known", async () => {
    const same = path();
    await script("With the keeper. [1]");
    const first = await client.send("GET", same);
    const etag = first.headers.get("etag")!;
    expect(first.headers.get("cache-control")).toMatch(/^private/);
    const body = await first.json();
    await script("Something else. [1]");
    expect(await client.json("GET", same)).toEqual(body);
    const known = await client.send("GET", same, { headers: { "if-none-match": etag } });
    expect(known.status).toBe(304);
    const events = await messagesOf(await client.send("GET", `${same}&stream=true`));
    expect(events.at(-1)!.data).toEqual(body);
  });

  it("is asked anew when the index has changed", async () => {
    const same = path();
    await script("With the keeper. [1]", "With him. [1]");
    await client.json("GET", same);
    await env.DB.prepare("UPDATE assets SET title = 'clip two' WHERE asset_id = ?")
      .bind(video.asset_id)
      .run();
    expect((await client.json("GET", same)).answer).toBe("With him. [1]");
  });

  it("of another account isn't answered from this one's", async () => {
    const other = await newClient();
    await other.json("POST", "/index", { json: { index_name: "trip" } });
    const same = path();
    await client.json("GET", same);
    expect(await other.json("GET", same)).toMatchObject({ grounded: false, citations: [] });
  });
});

describe("a day's answers", () => {
  beforeEach(() => script("With the keeper. [1]"));

  it("are limited", async () => {
    const { account_id } = await client.json("POST", "/init");
    await env.DB.prepare("UPDATE usage SET answers = ? WHERE account_id = ?")
      .bind(ACCOUNT_LIMITS.answers_per_day, account_id)
      .run();
    const response = await client.send("GET", url("answer", { query: GOATS }));
    expect(response.status).toBe(429);
    expect(Number(response.headers.get("retry-after"))).toBeGreaterThan(0);
    const { detail }: Json = await response.json();
    expect(detail).toContain("midnight");
  });
});
