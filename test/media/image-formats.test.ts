import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { localImages } from "../../local/local-images.ts";
import { decodeImage, imageOfBytes } from "../../src/media/pixels/decode-image.ts";
import { type Client, fixture, type Json, newClient } from "../support/client.ts";

/** The text LANTERN FESTIVAL, 960 × 540, in each format; those with EXIF are stored sideways. */
const FILES = [
  ["shot.heic", "image/heic"],
  ["exif.heic", "image/heic"],
  ["shot.avif", "image/avif"],
  ["shot.dng", "image/x-adobe-dng"],
  ["words.tif", "image/tiff"],
  ["words.bmp", "image/bmp"],
  ["words.jp2", "image/jp2"],
  ["words.jxl", "image/jxl"],
  ["words.psd", "image/vnd.adobe.photoshop"],
] as const;
/** Formats that the IMAGES binding doesn't decode. */
const EXTERNAL = FILES.filter(([name]) => !/heic|dng/.test(name));

/** The binding with raw pixels, which the simulator lacks. */
const images = localImages(env);

let client: Client;

beforeAll(async () => {
  client = await newClient();
  await client.json("POST", "/index", { json: { index_name: "formats" } });
});

describe.each(FILES)("the image %s", (name, contentType) => {
  it("becomes ready upright, with a thumbnail, and is found by its on-screen text", async () => {
    const form = { image_file: await fixture(name) };
    const asset = await client.json("POST", "/index/formats/image", { form });
    const record = await client.waitForAsset("formats", asset);
    expect(record).toMatchObject({ state: "ready", error: null, content_type: contentType });
    expect([record.width, record.height]).toEqual([960, 540]);
    const thumbnail = await client.send("GET", new URL(record.thumbnail_url).pathname);
    expect(thumbnail.headers.get("content-type")).toBe("image/jpeg");
    const json = { query: "lantern", modes: ["text"], asset_ids: [asset.asset_id] };
    const { segments } = await client.json("POST", "/index/formats/search", { json });
    expect(segments.map((segment: Json) => segment.asset_id)).toEqual([asset.asset_id]);
  });

  it("is an example to search by", async () => {
    const form = { image_file: await fixture(name) };
    await client.json("POST", "/index/formats/search_image", { form });
  });
});

describe("an image of a format that only the decoder reads", () => {
  it("is refused in the decoder's words if it is of a kind that isn't read", async () => {
    const document = Buffer.alloc(64);
    document.write("8BPS\0\x02", "latin1");
    await expect(decodeImage(env, imageOfBytes(document))).rejects.toMatchObject({
      code: "unsupported_codec",
      message: "Large Photoshop documents (PSB) aren't read. Save it as JPEG or PNG.",
    });
  });

  const decode = async (name: string, settings: Partial<Env>) => {
    const bytes = new Uint8Array(await (await fixture(name)).arrayBuffer());
    return decodeImage({ ...env, ...settings }, imageOfBytes(bytes));
  };

  it.each(EXTERNAL)("says so without a decoder: %s", async (name) => {
    await expect(decode(name, { DECODER_URL: "" })).rejects.toMatchObject({
      code: "unsupported_codec",
      message: expect.stringMatching(/no decoder for .+ images.+JPEG.+add a decoder/),
    });
  });

  it("is retried while the decoder is away", async () => {
    const rejected = decode("words.tif", { DECODER_URL: "http://127.0.0.1:1" });
    await expect(rejected).rejects.toMatchObject({ code: "upstream_unavailable" });
  });
});

describe("an image that is almost square and stored sideways", () => {
  it.each(["jpg", "png", "webp"])("has the size of the upright image: %s", async (format) => {
    const bytes = new Uint8Array(await (await fixture(`square.${format}`)).arrayBuffer());
    const decoded = await decodeImage({ ...env, IMAGES: images }, imageOfBytes(bytes));
    expect(decoded).toMatchObject({ width: 3999, height: 4000 });
  });
});

describe("the facts of what took an image", () => {
  const FACTS = {
    taken_at: "2024-06-01T10:30:00.000Z",
    camera: "Lumen One",
    lens: "35mm F2",
    latitude: 60.391667,
    longitude: 5.32,
    altitude: 125,
  };
  const BERGEN = {
    "technical.latitude": { $gte: 60, $lt: 61 },
    "technical.camera": "Lumen One",
    "technical.taken_at": { $gte: "2024-06-01", $lt: "2024-06-01T12:00:00+00:00" },
  };

  const search = async (filter: Json): Promise<string[]> => {
    const json = { query: "lantern", filter, collapse: false };
    const { segments } = await client.json("POST", "/index/taken/search", { json });
    return segments.map(({ title }: Json) => title).toSorted();
  };

  it("are on its record, and filter a search", async () => {
    await client.json("POST", "/index", { json: { index_name: "taken" } });
    const names = ["shot.jpg", "shot.png", "shot.webp", "shot.heic", "shot.avif"];
    const added = [...names, "shot.dng", "words.tif"].map(async (name) => {
      const form = { image_file: await fixture(name) };
      const asset = await client.json("POST", "/index/taken/image", { form });
      return client.waitForAsset("taken", asset);
    });
    const [raw, plain] = (await Promise.all(added)).slice(names.length);
    for (const record of (await Promise.all(added)).slice(0, names.length)) {
      expect(record.technical).toEqual({ format: record.content_type, ...FACTS });
      expect(record.taken_at).toBe(FACTS.taken_at);
    }
    expect(raw.technical).toEqual({
      format: "image/x-adobe-dng",
      camera: "Lumen Raw",
      taken_at: "2024-06-01T12:30:00.000Z",
    });
    expect(plain).toMatchObject({ technical: { format: "image/tiff" }, taken_at: null });
    expect(await search(BERGEN)).toEqual(names.toSorted());
    expect(await search({ "technical.taken_at": null })).toEqual(["words.tif"]);
    expect(await search({ "technical.camera": "Lumen Raw" })).toEqual(["shot.dng"]);
  });

  it("are refused as a filter if the time is none", async () => {
    const json = { query: "lantern", filter: { "technical.taken_at": { $gt: "yesterday" } } };
    expect(await client.issues("POST", "/index/taken/search", { json })).toEqual([
      [["body", "filter", "technical.taken_at", "$gt"], "value_error"],
    ]);
  });
});
