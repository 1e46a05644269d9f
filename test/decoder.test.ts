import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { localImages } from "../local/local-images.ts";
import { localMedia } from "../local/local-media.ts";
import { sizeOf } from "../src/media/pictures.ts";
import { openContainer, requireVideoTrack } from "../src/media/container.ts";
import type { DecoderEnv } from "../src/media/decoder.ts";
import { frameAt } from "../src/media/frames.ts";
import { takeStills } from "../src/media/sheets.ts";
import { type Client, fixture, newClient } from "./client.ts";

/** Six seconds, words and then a house, as VP9: FRAMES doesn't decode it. */
const FILM = "vp9.mp4";

const bindings = { ...env, FRAMES: localMedia(env), IMAGES: localImages(env) };
let client: Client;

beforeAll(async () => {
  client = await newClient();
  await client.json("POST", "/index", { json: { index_name: "other" } });
  await env.MEDIA.put(FILM, await (await fixture(FILM)).arrayBuffer());
});

it("a video that FRAMES doesn't decode becomes ready, and is found by what is written in it", async () => {
  const form = { video_file: await fixture(FILM) };
  const asset = await client.json("POST", "/index/other/video", { form });
  expect(await client.settled("other", asset)).toMatchObject({ state: "ready", segments: 2 });
  const json = { query: "hello" };
  const { segments } = await client.json("POST", "/index/other/search", { json });
  expect(segments[0]).toMatchObject({ start_seconds: 0, end_seconds: 3 });
});

it("the decoder makes the same of a clip as FRAMES does", async () => {
  const jpeg = await frameAt(bindings, FILM, 4);
  const { width, height } = await sizeOf(bindings.IMAGES, new Blob([jpeg]).stream());
  expect({ width, height }).toEqual({ width: 320, height: 180 });
  using input = await openContainer(env.MEDIA, FILM, { from: 0, to: 6 });
  const track = await requireVideoTrack(input);
  const stills = await takeStills(bindings, track, { from: 0, to: 6, perSecond: 2 });
  expect(stills.map(({ seconds }) => seconds)).toEqual(
    Array.from({ length: 12 }, (_, i) => expect.closeTo(i / 2, 1)),
  );
});

describe("a clip that FRAMES doesn't decode", () => {
  it.each<[string, Partial<DecoderEnv>, string]>([
    ["there is no decoder", { DECODER_URL: "" }, "unsupported_codec"],
    ["nobody answers", { DECODER_URL: "http://127.0.0.1:1" }, "upstream_unavailable"],
    ["the decoder lets nobody in", { DECODER_KEY: "another" }, "upstream_unavailable"],
  ])("where %s has a code", async (_, settings, code) => {
    await expect(frameAt({ ...bindings, ...settings }, FILM, 4)).rejects.toMatchObject({ code });
  });

  it("and is damaged isn't readable", async () => {
    const bytes = new Uint8Array(await (await fixture(FILM)).arrayBuffer());
    const at = Buffer.from(bytes).indexOf("mdat") + 4;
    bytes.fill(0xff, at, at + 20_000);
    await env.MEDIA.put("damaged", bytes);
    const code = "unreadable_frame";
    await expect(frameAt(bindings, "damaged", 0)).rejects.toMatchObject({ code });
  });
});
