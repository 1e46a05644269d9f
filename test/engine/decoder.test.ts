import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { encodeHeic } from "../setup/heif-file.ts";
import { type BuiltImage, buildImage } from "./dockerfile.ts";
import { type Engine, readError, readJson, startEngine, TOKEN } from "./engine-process.ts";
import { atRate, makeVideo } from "./video-file.ts";

const SECONDS = 4;
/** Loopback and a free port, in place of the image's. */
const LOOPBACK = { ENGINE_HOST: "127.0.0.1", ENGINE_PORT: "0" };

let folder: string;
let image: BuiltImage;
let decoder: Engine;
let video: Buffer<ArrayBuffer>;
let photo: Buffer;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "decoder-image-"));
  image = await buildImage("decoder/Dockerfile", folder);
  const settings = { ...image.env, ...LOOPBACK, ENGINE_TOKEN: "", ENGINE_OPEN: "true" };
  decoder = await startEngine(settings, image.script);
  const times = atRate(25, SECONDS * 25);
  video = await makeVideo({ times, container: "avi", audioSeconds: SECONDS });
  const background = { r: 200, g: 40, b: 40 };
  photo = await sharp({ create: { width: 128, height: 64, channels: 3, background } })
    .png()
    .toBuffer();
});
afterAll(async () => {
  await decoder?.stop();
  await rm(folder, { recursive: true });
});

const post = (path: string, body?: Buffer) =>
  decoder.fetch(path, { method: "POST", ...(body && { body: new Uint8Array(body) }) });

async function expectJpeg(response: Response, width: number, height: number): Promise<void> {
  expect(response.status).toBe(200);
  const metadata = await sharp(Buffer.from(await response.arrayBuffer())).metadata();
  expect(metadata).toMatchObject({ format: "jpeg", width, height });
}

describe("the image of decoder/Dockerfile, built and run without Docker,", () => {
  it("listens to every host on the port that the Worker calls", () => {
    expect(image.env).toMatchObject({ ENGINE_HOST: "0.0.0.0", ENGINE_PORT: "8080" });
  });

  it("decodes a frame and a contact sheet of a clip", async () => {
    await expectJpeg(await post("/media/frame?time=1&width=80&format=jpg", video), 80, 48);
    const sheet = await post("/media/sheet?time=0&count=4&width=80&height=48&format=jpg", video);
    expect(sheet.status).toBe(200);
    expect(sheet.headers.get("x-tile-width")).toBe("80");
  });

  it("decodes images by sharp, FFmpeg and libheif", async () => {
    const tiff = await sharp(photo).tiff().toBuffer();
    await expectJpeg(await post("/media/image?side=64", tiff), 64, 32);
    await expectJpeg(await post("/media/image?side=64", toBitmap(16, 8)), 16, 8);
    const heic = await post("/heif", await encodeHeic(photo));
    expect(heic.status).toBe(200);
    const metadata = await sharp(Buffer.from(await heic.arrayBuffer())).metadata();
    expect(metadata).toMatchObject({ format: "png", width: 128, height: 64 });
  });

  it("measures the amplitudes of sound", async () => {
    const response = await post("/media/peaks?start=0&step=0.5&count=8", video);
    const peaks = new Uint8Array(await response.arrayBuffer());
    expect(peaks.length).toBe(8);
    expect(Math.min(...peaks)).toBeGreaterThan(0);
  });

  it("converts a part of a video", async () => {
    const id = randomBytes(32).toString("hex");
    const query = `file=${id}&size=${video.length}&block=0`;
    const body = new Uint8Array(video);
    const sent = await decoder.fetch(`/conversion/file?${query}`, { method: "PUT", body });
    expect(await readJson(sent)).toMatchObject({ missing: [] });
    const measured = await readJson(await post(`/conversion/measure?file=${id}`));
    expect(measured).toMatchObject({ container: "avi", video: { width: 160, height: 96 } });
    const size = "width=160&height=96&fps=25&audio=true";
    const part = await post(`/conversion/part?file=${id}&start_ms=0&end_ms=3000&${size}`);
    expect([part.status, part.headers.get("content-type")]).toEqual([200, "video/mp4"]);
    await expectJpeg(
      await post("/media/frame?time=1&format=jpg", Buffer.from(await part.arrayBuffer())),
      160,
      96,
    );
  });

  it("has no route that needs a model", async () => {
    for (const path of ["/transcribe", "/describe", "/sentences", "/v1/chat/completions"]) {
      expect(await readError(await post(path, photo))).toEqual([404, "not_found"]);
    }
  });

  it("doesn't start for everybody, unless it is told so", async () => {
    const closed = { ...image.env, ...LOOPBACK, ENGINE_TOKEN: "", ENGINE_OPEN: "" };
    await expect(startEngine(closed, image.script)).rejects.toThrow("did not start");
  });

  it("with ENGINE_TOKEN serves only callers that send it", async () => {
    const settings = { ...image.env, ...LOOPBACK, ENGINE_TOKEN: TOKEN };
    const closed = await startEngine(settings, image.script);
    try {
      const path = "/media/image?side=64";
      const body = new Uint8Array(photo);
      const refused = await closed.fetch(path, { method: "POST", body });
      expect(await readError(refused)).toEqual([401, "unauthorized"]);
      expect((await closed.post(path, body)).status).toBe(200);
    } finally {
      await closed.stop();
    }
  });
});

/** Makes a bitmap of 24 bits whose rows need no padding. */
function toBitmap(width: number, height: number): Buffer {
  const header = Buffer.alloc(54);
  header.write("BM");
  header.writeUInt32LE(54 + width * height * 3, 2);
  header.writeUInt32LE(54, 10);
  header.writeUInt32LE(40, 14);
  header.writeInt32LE(width, 18);
  header.writeInt32LE(height, 22);
  header.writeUInt16LE(1, 26);
  header.writeUInt16LE(24, 28);
  return Buffer.concat([header, Buffer.alloc(width * height * 3, 0x80)]);
}
