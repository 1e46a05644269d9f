import { beforeEach, expect, it } from "vitest";
import { MODELS } from "../../src/config.ts";
import { localAi, refusal } from "./bindings.ts";

const ai = localAi();
const MODEL = MODELS.answer.id;
const inputs = { messages: [{ role: "user", content: "Who is there?" }] };

async function textOf(input: object): Promise<string> {
  const output = await ai.run(MODEL, input);
  if (!(output instanceof ReadableStream)) throw new Error("not a stream");
  return new Response(output).text();
}

beforeEach(() => ai.script(MODEL, []));

it("a chat says what was written for it, each reply once", async () => {
  await ai.script(MODEL, [{ text: "A dog." }, { text: "A cat.", finish: "length" }]);
  expect(await ai.run(MODEL, inputs)).toMatchObject({
    object: "chat.completion",
    choices: [{ message: { content: "A dog." }, finish_reason: "stop" }],
    usage: { prompt_tokens: 4, completion_tokens: 2, total_tokens: 6 },
  });
  expect(await ai.run(MODEL, inputs)).toMatchObject({
    choices: [{ message: { content: "A cat." }, finish_reason: "length" }],
  });
  expect(await refusal(ai.run(MODEL, inputs))).toMatch(/^5007: /);
});

it("a stream has production's styles", async () => {
  const usage = { prompt_tokens: 4, completion_tokens: 2 };
  await ai.script(MODEL, [
    { text: "A 🐕.", pieces: 2, thinks: "Hm" },
    { text: "A 🐕.", pieces: 2, style: "response", usage },
    { text: "A 🐕.", pieces: 2, breaksOff: true, style: "response" },
  ]);
  const input = { ...inputs, stream: true };
  const events = (await textOf(input)).split("\n\n");
  const chunks = events.slice(0, 5).map((event) => JSON.parse(event.replace("data: ", "")));
  expect(chunks.flatMap(({ choices }) => choices)).toEqual([
    { index: 0, delta: { reasoning_content: "Hm" }, finish_reason: null },
    { index: 0, delta: { content: "A " }, finish_reason: null },
    { index: 0, delta: { content: "🐕." }, finish_reason: null },
    { index: 0, delta: {}, finish_reason: "stop" },
  ]);
  expect(chunks[4]).toMatchObject({ object: "chat.completion.chunk", usage: { total_tokens: 6 } });
  expect(events.slice(5)).toEqual(["data: [DONE]", ""]);
  expect(await textOf(input)).toBe(
    'data: {"response":"A "}\n\ndata: {"response":"🐕."}\n\n' +
      'data: {"response":"","usage":{"prompt_tokens":4,"completion_tokens":2,"total_tokens":6}}\n\n' +
      "data: [DONE]\n\n",
  );
  expect(await textOf(input)).toBe('data: {"response":"A "}\n\n');
});

it("what it is asked can be looked at, however large", async () => {
  const large = { messages: [{ role: "user", content: "犬🐕".repeat(400_000) }] };
  await ai.script(MODEL, [{ text: "1" }, { text: "2" }]);
  await ai.run(MODEL, large);
  await ai.run(MODEL, inputs);
  const asked = await ai.asked(MODEL);
  expect(asked).toHaveLength(2);
  expect(JSON.stringify(asked[0]) === JSON.stringify(large)).toBe(true);
  expect(asked[1]).toEqual(inputs);
  await ai.script(MODEL, []);
  expect(await ai.asked(MODEL)).toEqual([]);
});

it("faults come first, and what production refuses is refused", async () => {
  await ai.script(MODEL, [{ text: "A dog." }, { text: "A cat." }]);
  await ai.inject(MODEL, "3040");
  expect(await refusal(ai.run(MODEL, inputs))).toMatch(/^3040: /);
  expect(await ai.run(MODEL, inputs)).toMatchObject({
    choices: [{ message: { content: "A dog." } }],
  });
  expect(await refusal(ai.run(MODEL, {}))).toMatch(/^5006: /);
});
