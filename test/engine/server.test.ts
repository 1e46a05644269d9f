import { once } from "node:events";
import { readdirSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { type IncomingMessage, request as httpRequest } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Engine, readJson, readError, startEngine, TOKEN } from "./engine-process.ts";

let engine: Engine;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "engine-test-"));
  engine = await startEngine({ TMPDIR: folder, ENGINE_MAX_BYTES: "200000" });
});
afterAll(async () => {
  await engine.stop();
  await rm(folder, { recursive: true });
});

const ROUTES = [
  "/sentences",
  "/objects",
  "/ocr",
  "/describe",
  "/v1/embeddings",
  "/v1/chat/completions",
  "/mask",
  "/cutout",
  "/media/probe",
  "/media/frame",
  "/media/sheet",
  "/media/clip",
  "/media/audio",
  "/vad",
  "/transcribe",
];

describe("the engine", () => {
  it("lists its capabilities without a token", async () => {
    const response = await engine.fetch("/health");
    expect(response.status).toBe(200);
    const { ok, capabilities } = await readJson<{ ok: boolean; capabilities: object }>(response);
    expect(ok).toBe(true);
    for (const name of ["sentences", "objects", "ocr", "embeddings", "masks", "media"]) {
      const capability = { ready: expect.any(Boolean), model: expect.any(String) };
      expect(capabilities).toHaveProperty(name, expect.objectContaining(capability));
    }
  });

  it("lists nothing without a token to a page whose host name was pointed here", async () => {
    const port = Number(/\d+$/.exec(engine.origin)![0]);
    const headers = { host: "page.example" };
    const call = httpRequest({ host: "127.0.0.1", port, path: "/health", headers }).end();
    const [response] = (await once(call, "response")) as [IncomingMessage];
    expect(response.statusCode).toBe(401);
    response.resume();
  });

  it("responds with 400 to a malformed URL", async () => {
    const port = Number(/\d+$/.exec(engine.origin)![0]);
    const call = httpRequest({ host: "127.0.0.1", port, path: "http://[" }).end();
    const [response] = (await once(call, "response")) as [IncomingMessage];
    expect(response.statusCode).toBe(400);
    response.resume();
  });

  it("lists a missing capability with instructions to add it", async () => {
    const { capabilities } = await readJson<{ capabilities: object }>(
      await engine.fetch("/health"),
    );
    const reason = expect.stringContaining("LOCAL_LLM_URL");
    expect(capabilities).toHaveProperty("chat", { ready: false, model: null, reason });
    const chat = JSON.stringify({ messages: [{ role: "user", content: "Hello?" }] });
    const error = await readError(await engine.post("/v1/chat/completions", chat));
    expect(error).toEqual([501, "model_not_found"]);
  });

  it("quotes the evidence of an answer's prompt without a language model", async () => {
    const system = "If the evidence doesn't answer the question, reply only NOT_IN_EVIDENCE.";
    const evidence = JSON.stringify({ evidence: 3, title: "a.mp4", said: "Bees come at dawn." });
    const messages = [
      { role: "system", content: system },
      { role: "user", content: `Evidence:\n\n${evidence}\n\nQuestion: "When do bees come?"` },
    ];
    const ask = (stream: boolean) =>
      engine.post("/v1/chat/completions", JSON.stringify({ messages, stream }));
    expect(await readJson(await ask(false))).toMatchObject({
      model: "extractive",
      choices: [{ message: { content: "Bees come at dawn. [3]" }, finish_reason: "stop" }],
      usage: { total_tokens: 0 },
    });
    const events = await (await ask(true)).text();
    expect(events).toContain('"content":"Bees come at dawn. [3]"');
    expect(events).toContain('"model":"extractive"');
  });

  it.each(ROUTES)("rejects %s without a valid token", async (path) => {
    const tokens = [undefined, "Bearer wrong", `Bearer ${TOKEN}x`, TOKEN];
    for (const authorization of tokens) {
      const headers = new Headers(authorization ? { authorization } : {});
      const response = await engine.fetch(path, { method: "POST", headers, body: "x" });
      expect(await readError(response)).toEqual([401, "unauthorized"]);
    }
  });

  it.each([
    ["POST", "/nowhere"],
    ["GET", "/objects"],
    ["POST", "/toString"],
    ["POST", "/__proto__"],
  ])("responds with 404 to %s %s", async (method, path) => {
    const headers = { authorization: `Bearer ${TOKEN}` };
    expect(await readError(await engine.fetch(path, { method, headers }))).toEqual([
      404,
      "not_found",
    ]);
  });

  it("rejects a body that is too large, with and without a content-length", async () => {
    const bytes = new Uint8Array(3_000_000);
    expect(await readError(await engine.post("/media/probe", bytes))).toEqual([413, "too_large"]);
    const response = await engine.fetch("/media/probe", {
      method: "POST",
      headers: { authorization: `Bearer ${TOKEN}` },
      body: new Blob([bytes]).stream(),
      duplex: "half",
    });
    expect(await readError(response)).toEqual([413, "too_large"]);
  });

  it("removes the files of a finished call", async () => {
    await engine.post("/media/probe", new Uint8Array(1_000));
    const workFolder = readdirSync(folder).find((name) => name.startsWith("engine-"));
    await expect.poll(() => readdirSync(join(folder, workFolder ?? ""))).toEqual([]);
  });

  it.each(["SIGTERM", "SIGINT"] as const)("stops on %s and removes its folder", async (signal) => {
    const other = await mkdtemp(join(tmpdir(), "engine-test-"));
    const second = await startEngine({ TMPDIR: other });
    expect(readdirSync(other)).toHaveLength(1);
    expect(await second.stop(signal)).toBe(0);
    expect(readdirSync(other)).toEqual([]);
    await rm(other, { recursive: true });
  });

  it.each([{ ENGINE_TOKEN: "" }, { ENGINE_PORT: "" }, { ENGINE_PORT: "http" }])(
    "does not start with %j",
    async (env) => {
      await expect(startEngine(env)).rejects.toThrow("did not start");
    },
  );
});

async function embed(texts: string[]): Promise<number[][]> {
  const response = await engine.post("/sentences", JSON.stringify({ texts }));
  expect(response.status).toBe(200);
  const body = await readJson<{ vectors: number[][] }>(response);
  expect(body).toMatchObject({ model: "universal-sentence-encoder-lite", dimensions: 512 });
  return body.vectors;
}

function dot(a: number[] = [], b: number[] = []): number {
  return a.reduce((sum, value, at) => sum + value * (b[at] ?? 0), 0);
}

describe("sentence embeddings", () => {
  it("of similar sentences have a high cosine", async () => {
    const [dog, puppy, tax] = await embed([
      "a dog runs on the beach",
      "a puppy is playing by the sea",
      "the deadline of the quarterly tax report",
    ]);
    expect(dot(dog, puppy)).toBeGreaterThan(0.5);
    expect(dot(dog, tax)).toBeLessThan(0.2);
  });

  it("are unit vectors of 512 dimensions for any text", async () => {
    const texts = ["word", "", "   ", "日本語 🦊", "long ".repeat(20_000), "\u0000\n"];
    const vectors = await embed(texts);
    expect(vectors).toHaveLength(texts.length);
    for (const vector of vectors) {
      expect(vector).toHaveLength(512);
      expect(dot(vector, vector)).toBeCloseTo(1, 5);
    }
  });

  it("are the same for a text alone and in a batch of 256", async () => {
    const texts = Array.from({ length: 256 }, (_, at) => `sentence ${"very ".repeat(at % 9)}${at}`);
    const [alone] = await embed([texts[100] ?? ""]);
    expect(dot(alone, (await embed(texts))[100])).toBeCloseTo(1, 4);
  });

  it.each(["", "[]", "{", '{"texts":[]}', '{"texts":[1]}', '{"texts":"a"}', "null"])(
    "are rejected for the body %j",
    async (body) => {
      expect(await readError(await engine.post("/sentences", body))).toEqual([400, "bad_request"]);
    },
  );

  it("are rejected for more than 256 texts", async () => {
    const body = JSON.stringify({ texts: Array.from({ length: 257 }, () => "a") });
    expect(await readError(await engine.post("/sentences", body))).toEqual([400, "bad_request"]);
  });
});
