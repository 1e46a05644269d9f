import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { localMedia } from "../../local/local-media.ts";
import { decodeJpeg } from "../../src/media/pixels/jpeg.ts";
import { type Client, fixture, type Json, newClient } from "../support/client.ts";

let client: Client;

beforeAll(async () => {
  client = await newClient();
  await client.json("POST", "/index", { json: { index_name: "films" } });
});

async function add(name: string, parts: Json = {}): Promise<Json> {
  const form = { ...parts, video_file: await fixture(name) };
  return client.waitForAsset("films", await client.json("POST", "/index/films/video", { form }));
}

/** Returns the mean red of each tile of a storyboard. */
async function readTiles({ url, ...layout }: Json): Promise<number[]> {
  const response = await client.send("GET", new URL(url).pathname);
  expect(response.headers.get("content-type")).toBe("image/jpeg");
  const jpeg = new Uint8Array(await response.arrayBuffer());
  const { tiles, columns, tile_width: width, tile_height: height } = layout;
  return decodeJpeg(jpeg, (image) => {
    expect(image).toMatchObject({
      width: columns * width,
      height: Math.ceil(tiles / columns) * height,
    });
    return Array.from({ length: tiles }, (_, tile) => {
      let sum = 0;
      for (let y = 0; y < height; y++) {
        const row = Math.floor(tile / columns) * height + y;
        const first = row * image.width + (tile % columns) * width;
        for (let x = 0; x < width; x++) sum += image.data[(first + x) * 4]!;
      }
      return sum / (width * height);
    });
  });
}

describe("The storyboard of a video", () => {
  it("has a frame for each second, over windows of the analysis and a conversion", async () => {
    const { storyboard, duration_seconds: duration } = await add("old.avi");
    const count = Math.ceil(duration);
    expect(storyboard).toMatchObject({ tiles: count, columns: 10, interval_seconds: 1 });
    const tiles = await readTiles(storyboard);
    const [text, house] = [tiles[0]!, tiles.at(-1)!];
    const isText = tiles.map((tile) => Math.abs(tile - text) < Math.abs(tile - house));
    const expected = tiles.map((_, second) => (second === 30 ? expect.any(Boolean) : second < 30));
    expect(isText).toEqual(expected); // the cut is at 30 s
  });

  it("is deleted with the video", async () => {
    const { asset_id: id, storyboard } = await add("glance.mp4");
    const { pathname } = new URL(storyboard.url);
    expect((await client.send("GET", pathname)).status).toBe(200);
    const { job_id } = await client.json("DELETE", `/index/films/video/${id}`);
    await client.waitForJob(job_id);
    expect((await client.send("GET", pathname)).status).toBe(404);
  });
});

it("A video whose frames can't be decoded has no storyboard", async () => {
  await localMedia(env).inject("9412", 50);
  const transcript = new File(["WEBVTT\n\n00:00.000 --> 00:03.000\nA keeper.\n"], "a.vtt");
  expect(await add("trimmed.mov", { transcript })).toMatchObject({
    state: "ready",
    storyboard: null,
  });
  await env.FAULTS.getByName("faults").clear("FRAMES");
});

it.each(["speech.mp3", "words.jpg"])(
  "An asset without a video's pictures has no storyboard: %s",
  async (name) => {
    const type = name.endsWith(".jpg") ? "image" : "video";
    const form = { [`${type}_file`]: await fixture(name) };
    const asset = await client.json("POST", `/index/films/${type}`, { form });
    expect(await client.waitForAsset("films", asset)).toMatchObject({ storyboard: null });
  },
);
