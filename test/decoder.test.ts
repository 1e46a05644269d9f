import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { localImages } from "../local/local-images.ts";
import { localMedia } from "../local/local-media.ts";
import { getImageInfo } from "../src/media/pixels/decode-image.ts";
import { openContainer, requireVideoTrack } from "../src/media/container/open-container.ts";
import type { DecoderEnv } from "../src/media/decoder.ts";
import { extractFrameAt } from "../src/media/frames.ts";
import { sampleFrames } from "../src/media/shots/contact-sheet.ts";
import { type Client, fixture, newClient } from "./client.ts";

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
  const track = await requireVideoTrack(input);
  const frames = await sampleFrames(bindings, track, { ...range, perSecond: 2 });
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

  it("that is damaged throws unreadable_frame", async () => {
    const bytes = new Uint8Array(await (await fixture(VIDEO)).arrayBuffer());
    const at = Buffer.from(bytes).indexOf("mdat") + 4;
    bytes.fill(0xff, at, at + 20_000);
    await env.MEDIA.put("damaged", bytes);
    const code = "unreadable_frame";
    await expect(extractFrameAt(bindings, "damaged", 0)).rejects.toMatchObject({ code });
  });
});
