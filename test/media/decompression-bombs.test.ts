import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, inject, it } from "vitest";
import { LIMITS } from "../../src/config.ts";
import { decodeImage, imageOfBytes } from "../../src/media/pixels/decode-image.ts";
import { type Client, fixture, newClient } from "../support/client.ts";
import {
  bmp,
  gif,
  heif,
  jpeg,
  jpeg2000,
  jpegXl,
  losslessWebp,
  photoshop,
  png,
  tiff,
  webp,
} from "../support/image-headers.ts";

const SIDE = Math.sqrt(LIMITS.imagePixels) + 1;
/** Bytes before the size, more than the first bytes by which a file is rejected. */
const BYTES_BEFORE_SIZE = 5000;

let client: Client;

beforeAll(async () => {
  client = await newClient();
  await client.json("POST", "/index", { json: { index_name: "a" } });
});

const imageForm = (bytes: Uint8Array) => ({ form: { image_file: new File([bytes], "a.png") } });

describe.each([
  ["PNG", png(SIDE, SIDE)],
  ["GIF", gif(SIDE, SIDE)],
  ["JPEG", jpeg(SIDE, SIDE)],
  ["WebP", webp(SIDE, SIDE)],
  ["lossless WebP", losslessWebp(SIDE, SIDE)],
  ["HEIC", heif("heic", SIDE, SIDE)],
  ["AVIF", heif("avif", SIDE, SIDE)],
])("a %s of too many pixels", (_, bytes) => {
  it.each(["image", "search_image"])("gets a 413 from …/%s", async (path) => {
    const response = await client.send("POST", `/index/a/${path}`, imageForm(bytes));
    expect(response.status).toBe(413);
    expect(await response.json()).toEqual({ detail: expect.stringContaining("pixels") });
    expect((await env.MEDIA.list()).objects).toEqual([]);
  });
});

describe("an image of too many pixels whose size comes late", () => {
  it("is rejected before it is decoded", async () => {
    const file = imageOfBytes(Buffer.from(jpeg(SIDE, SIDE, BYTES_BEFORE_SIZE)));
    let decodeCount = 0;
    const images: ImagesBinding = {
      hosted: env.IMAGES.hosted,
      text: (...options) => env.IMAGES.text(...options),
      info: async () => ({ format: "image/jpeg", fileSize: 1, width: SIDE, height: SIDE }),
      input: (stream) => {
        decodeCount += 1;
        return env.IMAGES.input(stream);
      },
    };
    await expect(decodeImage({ ...env, IMAGES: images }, file)).rejects.toMatchObject({
      code: "too_large",
    });
    expect(decodeCount).toBe(0);
  });

  it.each([
    ["TIFF", tiff(SIDE, SIDE)],
    ["BMP", bmp(SIDE, SIDE)],
    ["JPEG 2000", jpeg2000(SIDE, SIDE)],
    ["JPEG XL", jpegXl(SIDE, SIDE)],
    ["Photoshop file", photoshop(SIDE, SIDE)],
  ])("is refused by the decoder of its format: a %s", async (_, bytes) => {
    await expect(decodeImage(env, imageOfBytes(bytes))).rejects.toMatchObject({
      code: expect.stringMatching(/^(?:too_large|unreadable_image)$/),
    });
  });

  it.each([10_001, 60_000])("fails in ingest and in search: %d pixels each way", async (side) => {
    const form = imageForm(jpeg(side, side, BYTES_BEFORE_SIZE));
    const asset = await client.json("POST", "/index/a/image", form);
    const { error } = await client.waitForAsset("a", asset);
    expect(error.code).toMatch(/^(too_large|unreadable_image)$/);
    const response = await client.send("POST", "/index/a/search_image", form);
    expect([413, 422]).toContain(response.status);
    const { job_id } = await client.json("DELETE", `/index/a/image/${asset.asset_id}`);
    await client.waitForJob(job_id);
  });
});

it("the URL of an image of too many pixels fails with too_large", async () => {
  const url = `${inject("malformedOrigin")}/decompression-bomb`;
  const asset = await client.json("POST", `/index/a/image?image_url=${url}`);
  const { error } = await client.waitForAsset("a", asset);
  expect(error).toEqual({ code: "too_large", message: expect.stringContaining("30000 × 30000") });
  expect(await env.MEDIA.list()).toMatchObject({ objects: [] });
});

it("an image within the limits becomes ready", async () => {
  const form = { image_file: await fixture("boats.jpg") };
  const asset = await client.json("POST", "/index/a/image", { form });
  expect(await client.waitForAsset("a", asset)).toMatchObject({ state: "ready" });
});
