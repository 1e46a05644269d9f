import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, inject, it } from "vitest";
import { LIMITS } from "../src/config.ts";
import { decodePicture } from "../src/media/pictures.ts";
import { type Client, fixture, newClient } from "./client.ts";
import { avif, gif, jpeg, losslessWebp, png, webp } from "./picture-headers.ts";

const SIDE = Math.sqrt(LIMITS.imagePixels) + 1;
/** What a header in the first bytes doesn't tell. */
const LATE = 5000;

let client: Client;

beforeAll(async () => {
  client = await newClient();
  await client.json("POST", "/index", { json: { index_name: "a" } });
});

const formOf = (bytes: Uint8Array) => ({ form: { image_file: new File([bytes], "a.png") } });

describe.each([
  ["PNG", png(SIDE, SIDE)],
  ["GIF", gif(SIDE, SIDE)],
  ["JPEG", jpeg(SIDE, SIDE)],
  ["WebP", webp(SIDE, SIDE)],
  ["lossless WebP", losslessWebp(SIDE, SIDE)],
  ["AVIF", avif(SIDE, SIDE)],
])("a %s that would fill the memory", (_, bytes) => {
  it.each(["image", "search_image"])("is 413 at …/%s", async (path) => {
    const response = await client.send("POST", `/index/a/${path}`, formOf(bytes));
    expect(response.status).toBe(413);
    expect(await response.json()).toEqual({ detail: expect.stringContaining("pixels") });
    expect((await env.MEDIA.list()).objects).toEqual([]);
  });
});

describe("a picture whose header comes late", () => {
  it("is refused before it is decoded", async () => {
    const open = async () => new Blob([jpeg(SIDE, SIDE, LATE)]).stream();
    let decoded = 0;
    const images: ImagesBinding = {
      hosted: env.IMAGES.hosted,
      text: (...options) => env.IMAGES.text(...options),
      info: async () => ({ format: "image/jpeg", fileSize: 1, width: SIDE, height: SIDE }),
      input: (stream) => {
        decoded += 1;
        return env.IMAGES.input(stream);
      },
    };
    await expect(decodePicture(images, open)).rejects.toMatchObject({ code: "too_large" });
    expect(decoded).toBe(0);
  });

  it.each([10_001, 60_000])("fails its ingest and its search: %d wide and high", async (side) => {
    const form = formOf(jpeg(side, side, LATE));
    const asset = await client.json("POST", "/index/a/image", form);
    const { error } = await client.settled("a", asset);
    expect(error.code).toMatch(/^(too_large|unreadable_image)$/);
    const response = await client.send("POST", "/index/a/search_image", form);
    expect([413, 422]).toContain(response.status);
    await client.json("DELETE", `/index/a/image/${asset.asset_id}`);
  });
});

it("a URL that leads to one fails", async () => {
  const url = `${inject("hostileOrigin")}/picture-bomb`;
  const asset = await client.json("POST", `/index/a/image?image_url=${url}`);
  const { error } = await client.settled("a", asset);
  expect(error).toEqual({ code: "too_large", message: expect.stringContaining("30000 × 30000") });
  expect(await env.MEDIA.list()).toMatchObject({ objects: [] });
});

it("a picture within the limits is none", async () => {
  const form = { image_file: await fixture("boats.jpg") };
  const asset = await client.json("POST", "/index/a/image", { form });
  expect(await client.settled("a", asset)).toMatchObject({ state: "ready" });
});
