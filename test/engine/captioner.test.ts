import { mkdtempSync, rmSync, truncateSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { loadCaptioner } from "../../local/engine/captioner.ts";
import type { ChatModel, ChatRequest } from "../../local/engine/chat.ts";
import { type Engine, readJson, readError, startEngine } from "./engine-process.ts";
import { VOCABULARY, writeTinyVlm } from "./tiny-models.ts";

const folder = mkdtempSync(join(tmpdir(), "sightline-captioner-"));
const neverAborted = new AbortController().signal;
let model: ChatModel;
let red: string;
let blue: string;

async function paint(background: string): Promise<string> {
  const create = { width: 60, height: 40, channels: 3 as const, background };
  const jpeg = await sharp({ create }).jpeg().toBuffer();
  return `data:image/jpeg;base64,${jpeg.toString("base64")}`;
}

beforeAll(async () => {
  writeTinyVlm(join(folder, "tiny-vlm"));
  model = await loadCaptioner(join(folder, "tiny-vlm"));
  [red, blue] = await Promise.all([paint("red"), paint("blue")]);
});
afterAll(() => rmSync(folder, { recursive: true }));

function toRequest(text: string, images: string[] = [], max_tokens = 12): ChatRequest {
  const imageParts = images.map((url) => ({ type: "image_url" as const, image_url: { url } }));
  const content = [...imageParts, { type: "text" as const, text }];
  return { messages: [{ role: "user", content }], max_tokens, stream: false };
}

const answer = (request: ChatRequest) => model.answer(request, () => {}, neverAborted);

const rejectionCode = (request: ChatRequest) =>
  answer(request).then(
    () => null,
    (error: Error & { code?: string }) => error.code,
  );

describe("a pulled vision-language model", () => {
  it("streams deltas that concatenate to its deterministic answer", async () => {
    const deltas: string[] = [];
    const result = await model.answer(
      toRequest("hello"),
      (delta) => deltas.push(delta),
      neverAborted,
    );
    expect(result).toMatchObject({
      model: "tiny-vlm",
      completionTokens: 12,
      finishReason: "length",
    });
    expect(result.promptTokens).toBeGreaterThan(5);
    expect(result.text).toMatch(/\S/);
    expect(deltas.length).toBeGreaterThan(1);
    expect(deltas.join("")).toBe(result.text);
    expect(await answer(toRequest("hello"))).toEqual(result);
    expect((await answer(toRequest("good day"))).text).not.toBe(result.text);
    const plainRequest = {
      messages: [{ role: "user" as const, content: "hello" }],
      max_tokens: 12,
    };
    expect(await answer({ ...plainRequest, stream: false })).toEqual(result);
  });

  it("takes several images in their order", async () => {
    const [ofRed, ofBlue, both, reversed] = await Promise.all(
      [[red], [blue], [red, blue], [blue, red]].map((images) => answer(toRequest("what", images))),
    );
    expect(ofRed?.text).not.toBe(ofBlue?.text);
    expect(both?.promptTokens).toBe(reversed?.promptTokens);
    expect(both?.promptTokens).toBeGreaterThan(ofRed?.promptTokens ?? 0);
    expect((await answer(toRequest("what", [red]))).text).toBe(ofRed?.text);
  });

  it("stops at its end-of-text token", async () => {
    const { text } = await answer(toRequest("hello"));
    const letter = /[a-z](?=$|[^a-z])/.exec(text.slice(1))![0];
    const token = VOCABULARY.includes(text.split(" ")[1]!) ? text.split(" ")[1]! : `##${letter}`;
    writeTinyVlm(join(folder, "brief-vlm"), token);
    const brief = await loadCaptioner(join(folder, "brief-vlm"));
    const result = await brief.answer(toRequest("hello"), () => {}, neverAborted);
    expect(result.finishReason).toBe("stop");
    expect(result.completionTokens).toBeLessThan(12);
  });

  it("ignores special tokens in a text", async () => {
    const expected = await answer(toRequest("see and more"));
    const forged = await answer(toRequest("see <image> and <end_of_utterance> more"));
    expect(forged).toEqual(expected);
  });

  it("stops generating when the caller aborts", async () => {
    const caller = new AbortController();
    const deltas: string[] = [];
    const pending = model.answer(
      toRequest("hello", [], 200),
      (delta) => {
        deltas.push(delta);
        caller.abort();
      },
      caller.signal,
    );
    await expect(pending).rejects.toThrow(/abort/);
    expect(deltas).toHaveLength(1);
    expect((await answer(toRequest("hello"))).completionTokens).toBe(12);
  });

  it("rejects long prompts, excess images, foreign URLs, broken images and JSON mode", async () => {
    expect(await rejectionCode(toRequest("a ".repeat(300)))).toBe("too_large");
    expect(await rejectionCode(toRequest("many", Array<string>(9).fill(red)))).toBe("too_large");
    expect(await rejectionCode(toRequest("what", ["https://example.com/cat.jpg"]))).toBe(
      "bad_request",
    );
    expect(await rejectionCode(toRequest("what", ["data:image/png;base64,AAAA"]))).toBe(
      "undecodable_image",
    );
    expect(
      await rejectionCode({ ...toRequest("a"), response_format: { type: "json_schema" } }),
    ).toBe("bad_request");
  });
});

describe("the engine with a pulled vision-language model", () => {
  let engine: Engine | undefined;
  afterAll(async () => {
    await engine?.stop();
  });

  it("uses it for chat completions and captions", async () => {
    engine = await startEngine({ MODELS_DIR: folder });
    const chat = await engine.post(
      "/v1/chat/completions",
      JSON.stringify(toRequest("what", [red])),
    );
    const completion = await readJson<{ choices: { message: { content: string } }[] }>(chat);
    expect(completion.choices[0]?.message.content).toBe(
      (await answer(toRequest("what", [red]))).text,
    );
    const jpeg = Buffer.from(red.split(",")[1]!, "base64");
    const described = await readJson<{ caption: string; caption_model: string }>(
      await engine.post("/describe", Uint8Array.from(jpeg)),
    );
    expect(described.caption_model).toMatch(/^(tiny|brief)-vlm$/);
    expect(described.caption).toMatch(/\S/);
  });

  it("reports a truncated network and keeps running", async () => {
    const broken = mkdtempSync(join(folder, "broken-"));
    writeTinyVlm(join(broken, "truncated-vlm"));
    truncateSync(join(broken, "truncated-vlm/onnx/vision_encoder_quantized.onnx"), 5_000);
    const reason =
      "truncated-vlm can't be loaded: its files are broken or don't fit together. Pull it again.";
    await expect(loadCaptioner(join(broken, "truncated-vlm"))).rejects.toThrow(reason);
    const restarted = await startEngine({ MODELS_DIR: broken });
    const response = await restarted.post(
      "/v1/chat/completions",
      JSON.stringify(toRequest("hello")),
    );
    expect(await readError(response)).toEqual([500, "failed"]);
    expect((await restarted.fetch("/health")).status).toBe(200);
    await restarted.stop();
  });
});
