import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { localImages } from "../../local/local-images.ts";
import { localMedia } from "../../local/local-media.ts";
import { listFrames } from "../../src/media/container/clips.ts";
import { openContainer, requireVideoTrack } from "../../src/media/container/open-container.ts";
import type { DecoderEnv } from "../../src/media/decoder.ts";
import { extractFrameAt, transformClip } from "../../src/media/frames.ts";
import { getImageInfo } from "../../src/media/pixels/decode-image.ts";
import { sampleFrames } from "../../src/media/shots/contact-sheet.ts";
import { type Client, fixture, newClient } from "../support/client.ts";

/** Six seconds, a page of text and then a house, as VP9, which FRAMES doesn't decode. */
const VIDEO = "vp9.mp4";

const bindings = { ...env, FRAMES: localMedia(env), IMAGES: localImages(env) };
let client: Client;

beforeAll(async () => {
  client = await newClient();
  await client.json("POST", "/index", { json: { index_name: "other" } });
  await env.MEDIA.put(VIDEO, await (await fixture(VIDEO)).arrayBuffer());
});

it("a VP9 video becomes ready and is found by its on-screen text", async () => {
  const form = { video_file: await fixture(VIDEO) };
  const asset = await client.json("POST", "/index/other/video", { form });
  expect(await client.waitForAsset("other", asset)).toMatchObject({ state: "ready", segments: 2 });
  const json = { query: "hello" };
  const { segments } = await client.json("POST", "/index/other/search", { json });
  expect(segments[0]).toMatchObject({ start_seconds: 0, end_seconds: 3 });
});

it("the external decoder extracts a frame and samples frames at regular times", async () => {
  const jpeg = await extractFrameAt(bindings, VIDEO, 4);
  const { width, height } = await getImageInfo(bindings.IMAGES, new Blob([jpeg]).stream());
  expect({ width, height }).toEqual({ width: 320, height: 180 });
  const range = { start: 0, end: 6 };
  using input = await openContainer(env.MEDIA, VIDEO, range);
  const track = requireVideoTrack(input);
  const frames = await sampleFrames(bindings, track, await listFrames(track, range), {
    ...range,
    perSecond: 2,
  });
  expect(frames.map(({ seconds }) => seconds)).toEqual(
    Array.from({ length: 12 }, (_, i) => expect.closeTo(i / 2, 1)),
  );
});

describe("decoding a VP9 video", () => {
  it.each<[title: string, code: string, settings: Partial<DecoderEnv>]>([
    ["without an external decoder", "unsupported_codec", { DECODER_URL: "" }],
    ["while the decoder is down", "upstream_unavailable", { DECODER_URL: "http://127.0.0.1:1" }],
    ["with a key that the decoder rejects", "upstream_unavailable", { DECODER_KEY: "another" }],
  ])("%s throws %s", async (_, code, settings) => {
    await expect(extractFrameAt({ ...bindings, ...settings }, VIDEO, 4)).rejects.toMatchObject({
      code,
    });
  });

  it("calls FRAMES only if FRAMES_CODECS has it", async () => {
    const times = 5;
    await bindings.FRAMES.inject("9599", times);
    await extractFrameAt({ ...bindings, FRAMES_CODECS: "hevc, av1" }, VIDEO, 4);
    await extractFrameAt({ ...bindings, FRAMES_CODECS: "hevc, vp9" }, VIDEO, 4);
    expect(await env.FAULTS.getByName("faults").clear("FRAMES")).toBe(times - 1);
  });

  it("that is damaged throws unreadable_frame", async () => {
    const bytes = new Uint8Array(await (await fixture(VIDEO)).arrayBuffer());
    const at = Buffer.from(bytes).indexOf("mdat") + 4;
    bytes.fill(0xff, at, at + 20_000);
    await env.MEDIA.put("damaged", bytes);
    const code = "unreadable_frame";
    await expect(extractFrameAt(bindings, "damaged", 0)).rejects.toMatchObject({ code });
  });
});

describe("a VP9 video of a service whose FRAMES_CODECS has VP9", () => {
  const FRAMES = localMedia({ ...env, FRAMES_DECODES: "hevc,vp9" });
  const settings = { ...bindings, FRAMES_CODECS: "hevc,vp9" };

  async function expectFrame(jpeg: Uint8Array) {
    const info = await getImageInfo(bindings.IMAGES, new Blob([jpeg]).stream());
    expect(info).toMatchObject({ width: 320, height: 180 });
  }

  it("is decoded by FRAMES, without the external decoder", async () => {
    const withoutDecoder = { ...settings, FRAMES, DECODER_URL: "http://127.0.0.1:1" };
    await expectFrame(await extractFrameAt(withoutDecoder, VIDEO, 4));
  });

  it.each(["9412", "9523", "9599"] as const)(
    "is decoded by the external decoder if FRAMES refuses it with %s",
    async (fault) => {
      await localMedia(env).inject(fault);
      await expectFrame(await extractFrameAt({ ...settings, FRAMES }, VIDEO, 4));
    },
  );

  it("can't be decoded if FRAMES refuses it and there is no external decoder", async () => {
    const extracting = extractFrameAt({ ...settings, DECODER_URL: "" }, VIDEO, 4);
    await expect(extracting).rejects.toMatchObject({ code: "unreadable_frame" });
  });
});

describe("a response of FRAMES that isn't ok", () => {
  const clip = { file: new Blob(["x"]), codec: "avc", atSeconds: 0 } as const;
  const respond = (status: number, headers: Record<string, string>) => ({
    ...bindings,
    FRAMES: fakeFrames(async () => new Response("The file is bad.", { status, headers })),
  });

  it.each([
    [415, { "cf-resized": "err=9412" }, "unreadable_frame"],
    [500, { "cf-resized": "err=9517" }, "unreadable_frame"],
    [503, { "cf-resized": "err=9522" }, "upstream_unavailable"],
    [422, {}, "unreadable_frame"],
    [500, {}, "upstream_unavailable"],
  ])("with status %s and the headers %j throws %s", async (status, headers, code) => {
    const transforming = transformClip(respond(status, headers), clip, { size: {} });
    await expect(transforming).rejects.toMatchObject({ code });
  });
});

/** A binding whose outputs are these responses. */
function fakeFrames(response: () => Promise<Response>): MediaBinding {
  const output = () => ({
    response,
    media: async () => (await response()).body!,
    contentType: async () => "image/jpeg",
  });
  return { input: () => ({ output, transform: () => ({ output }) }) };
}
