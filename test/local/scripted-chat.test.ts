import { beforeEach, expect, it } from "vitest";
import { MODELS } from "../../src/config.ts";
import { localAi, rejectionMessage } from "./bindings.ts";

const ai = localAi();
const MODEL = MODELS.answer.id;
const inputs = { messages: [{ role: "user", content: "Who is there?" }] };

async function textOf(input: object): Promise<string> {
  const output = await ai.run(MODEL, input);
  if (!(output instanceof ReadableStream)) throw new Error("not a stream");
  return new Response(output).text();
}

beforeEach(() => ai.script(MODEL, []));

it("a chat returns its scripted replies in order, each once", async () => {
  await ai.script(MODEL, [{ text: "A dog." }, { text: "A cat.", finishReason: "length" }]);
  expect(await ai.run(MODEL, inputs)).toMatchObject({
    object: "chat.completion",
    choices: [{ message: { content: "A dog." }, finish_reason: "stop" }],
    usage: { prompt_tokens: 4, completion_tokens: 2, total_tokens: 6 },
  });
  expect(await ai.run(MODEL, inputs)).toMatchObject({
    choices: [{ message: { content: "A cat." }, finish_reason: "length" }],
  });
  expect(await rejectionMessage(ai.run(MODEL, inputs))).toMatch(/^5007: /);
});

it("a scripted stream has the formats of production", async () => {
  const usage = { prompt_tokens: 4, completion_tokens: 2 };
  await ai.script(MODEL, [
    { text: "A 🐕.", deltaCount: 2, reasoning: "Hm" },
    { text: "A 🐕.", deltaCount: 2, style: "response", usage },
    { text: "A 🐕.", deltaCount: 2, isTruncated: true, style: "response" },
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
      'data: {"response":"","usage":{"prompt_tokens":4,"completion_tokens":2,' +
      '"total_tokens":6}}\n\n' +
      "data: [DONE]\n\n",
  );
  expect(await textOf(input)).toBe('data: {"response":"A "}\n\n');
});

it("the inputs of scripted chats are recorded, even large ones", async () => {
  const large = { messages: [{ role: "user", content: "犬🐕".repeat(400_000) }] };
  await ai.script(MODEL, [{ text: "1" }, { text: "2" }]);
  await ai.run(MODEL, large);
  await ai.run(MODEL, inputs);
  const recorded = await ai.scriptedInputs(MODEL);
  expect(recorded).toHaveLength(2);
  expect(JSON.stringify(recorded[0]) === JSON.stringify(large)).toBe(true);
  expect(recorded[1]).toEqual(inputs);
  await ai.script(MODEL, []);
  expect(await ai.scriptedInputs(MODEL)).toEqual([]);
});

it("injected faults precede scripted replies, and invalid inputs are rejected", async () => {
  await ai.script(MODEL, [{ text: "A dog." }, { text: "A cat." }]);
  await ai.inject(MODEL, "3040");
  expect(await rejectionMessage(ai.run(MODEL, inputs))).toMatch(/^3040: /);
  expect(await ai.run(MODEL, inputs)).toMatchObject({
    choices: [{ message: { content: "A dog." } }],
  });
  expect(await rejectionMessage(ai.run(MODEL, {}))).toMatch(/^5006: /);
});
