import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import { localImages } from "../../local/local-images.ts";
import { localMedia } from "../../local/local-media.ts";
import type { Observed, ProbeResults } from "../../scripts/smoke/binding-record.ts";
import probe from "../../scripts/smoke/probe.ts";
import { MODELS } from "../../src/config.ts";
import { fixture } from "../support/client.ts";
import { localAi } from "./bindings.ts";

const TOKEN = "a token";

async function send(path: string, file?: string, token = TOKEN): Promise<Response> {
  const request = new Request(`https://probe.example/${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}` },
    ...(file !== undefined && { body: await fixture(file) }),
  });
  const bindings = { ...env, FRAMES: localMedia(env), IMAGES: localImages(env) };
  return probe.fetch(request as never, { ...bindings, PROBE_TOKEN: TOKEN });
}

async function ask<Name extends keyof ProbeResults>(name: Name, query = "", file?: string) {
  const response = await send(`${name}?${query}`, file);
  return response.json<Observed<ProbeResults[Name]>>();
}

it("the probe answers nobody without its token", async () => {
  expect((await send("database?limit=parameters&size=1", undefined, "another")).status).toBe(401);
  expect((await send("")).status).toBe(204);
});

it("the probe returns a contact sheet of a video, and a frame by FRAMES and by the decoder", async () => {
  const { value: sheet } = await ask("sheet", "count=6&seconds=6", "clip.mp4");
  const [frame, decoded] = [
    (await ask("frame", "at=3.6", "clip.mp4")).value!,
    (await ask("decoder", "at=3.6", "clip.mp4")).value!,
  ];
  expect(sheet).toMatchObject({ sizeOf: env.SHEET_SIZE_OF, tileLumas: { length: 6 } });
  // The text of the first 3 seconds is brighter than the house after it.
  const [first, , , fourth] = sheet!.tileLumas;
  expect(first! - fourth!).toBeGreaterThan(50);
  expect(frame).toMatchObject({ width: 320, height: 180 });
  expect(Math.abs(frame.luma - fourth!)).toBeLessThan(20);
  expect(Math.abs(decoded.luma - frame.luma)).toBeLessThan(5);
});

it("the probe returns whether FRAMES decodes a codec, and which file isn't a video", async () => {
  const { value: vp9 } = await ask("codec", "at=1.1", "vp9.mp4");
  const error = { code: "9412", meaning: "unreadable_frame" };
  expect(vp9).toEqual({ isListed: false, frame: { value: null, error } });
  const { value: h264 } = await ask("codec", "at=1.1", "clip.mp4");
  expect(h264).toMatchObject({ isListed: true, frame: { value: { width: 320 }, error: null } });
  expect((await ask("codec", "at=1.1", "boats.jpg")).error?.meaning).toBe("unreadable_container");
});

it("the probe returns the size of an image, or the code of its refusal", async () => {
  const size = { format: "image/jpeg", width: 1024, height: 819 };
  expect(await ask("image", "", "boats.jpg")).toEqual({ value: size, error: null });
  const error = { code: "9412", meaning: "unreadable_image" };
  expect(await ask("image", "", "truncated.jpg")).toEqual({ value: null, error });
});

it("the probe returns the length of embeddings of a text and an image, or a refusal", async () => {
  for (const input of ["text", "image"]) {
    expect((await ask("embedding", `input=${input}`, "words.jpg")).value).toBe(1024);
  }
  await localAi().inject(MODELS.embedImage.id, "5007", 1);
  expect((await ask("embedding", "input=text")).error).toMatchObject({ code: "5007" });
});

it("the probe writes a vector, finds it with the cosine as its score, and deletes it", async () => {
  await ask("vector", "id=observed&do=write");
  const query = async () => (await ask("vector", "id=observed&do=query")).value!;
  await expect.poll(async () => (await query()).score).not.toBeNull();
  const { cosine, score } = await query();
  expect(cosine).toBeLessThan(0.95);
  expect(score).toBeCloseTo(cosine, 4);
  await ask("vector", "id=observed&do=delete");
  await expect.poll(async () => (await query()).score).toBeNull();
});

it.each([
  ["parameters", 100, null],
  ["parameters", 101, { code: "D1_ERROR", meaning: "internal" }],
  ["value_bytes", 2_000_000, null],
  ["statement_bytes", 100_000, null],
])("the probe returns whether D1 takes %s of the size %d", async (limit, size, error) => {
  expect((await ask("database", `limit=${limit}&size=${size}`)).error).toEqual(error);
});
