import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, expect, it } from "vitest";
import { EngineError } from "../../local/engine/errors.ts";
import { rememberReplies } from "../../local/engine/remembered-replies.ts";
import type { Call } from "../../local/engine/route.ts";

const { signal } = new AbortController();

function callWith(body: string, query = ""): Call {
  const headers = { "content-length": String(body.length) };
  const request = Object.assign(Readable.from([Buffer.from(body)]), { headers });
  return { request, query: new URLSearchParams(query), signal, account: "" };
}

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "sightline-replies-"));
});

afterEach(() => rm(folder, { recursive: true }));

/** Posts to an engine that answers with the number of its call and the body. */
function startCounting(models = "") {
  let calls = 0;
  const answer = async ({ request }: Call) => {
    const body = await text(request);
    calls++;
    if (body === "refused") throw new EngineError("bad_request", `Call ${calls} was refused.`);
    return { json: { calls, body } };
  };
  const draw = async ({ request }: Call) => {
    const headers = { "x-calls": String(++calls) };
    return { bytes: Buffer.from(`\n${await text(request)}`), contentType: "image/png", headers };
  };
  const routes = { "POST /ocr": answer, "POST /objects": answer, "POST /crop": draw };
  const remembered = rememberReplies({ ...routes, "POST /chat": answer }, folder, models);
  return (path: "ocr" | "objects" | "crop" | "chat", body: string, query?: string) =>
    remembered[`POST /${path}`]!(callWith(body, query));
}

const FIRST = { json: { calls: 1, body: "a boat" } };

it("an engine that remembers replies computes equal requests once", async () => {
  const post = startCounting();
  expect(await post("ocr", "a boat", "x=1")).toEqual(FIRST);
  expect(await post("ocr", "a boat", "x=1")).toEqual(FIRST);
});

it("an engine that remembers replies keeps bytes and headers", async () => {
  const post = startCounting();
  const first = await post("crop", "a boat");
  expect(first).toMatchObject({ contentType: "image/png", headers: { "x-calls": "1" } });
  expect(await post("crop", "a boat")).toEqual(first);
});

it("engines that share a folder share replies if their models are the same", async () => {
  await startCounting("clip")("ocr", "a boat");
  const same = startCounting("clip");
  await same("objects", "a boat");
  expect(await same("ocr", "a boat")).toEqual(FIRST);
  const other = startCounting("siglip");
  await other("objects", "a boat");
  expect(await other("ocr", "a boat")).toEqual({ json: { calls: 2, body: "a boat" } });
});

it.each([
  ["path", "objects", "a boat", "x=1"],
  ["body", "ocr", "a house", "x=1"],
  ["query", "ocr", "a boat", "x=2"],
] as const)(
  "an engine that remembers replies computes a request with another %s",
  async (_, path, body, query) => {
    const post = startCounting();
    await post("ocr", "a boat", "x=1");
    expect(await post(path, body, query)).toEqual({ json: { calls: 2, body } });
  },
);

it("an engine that remembers replies forgets errors", async () => {
  const post = startCounting();
  await expect(post("ocr", "refused")).rejects.toThrow("Call 1");
  await expect(post("ocr", "refused")).rejects.toThrow("Call 2");
});

it.each([
  ["a chat", "chat", "a boat"],
  ["a request of over 4 MB", "ocr", "x".repeat(4_000_001)],
] as const)("an engine that remembers replies always computes %s", async (_, path, body) => {
  const post = startCounting();
  await post(path, body);
  expect(await post(path, body)).toEqual({ json: { calls: 2, body } });
});
