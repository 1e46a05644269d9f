import { beforeAll, expect, it } from "vitest";
import { PART_BYTES } from "../../src/config.ts";
import { newClient } from "../support/client.ts";
import { createPaddedVideo, createUniqueImage, encode, TusClient } from "../support/tus-client.ts";

let tus: TusClient;

beforeAll(async () => {
  const client = await newClient();
  await client.json("POST", "/index", { json: { index_name: "a" } });
  tus = new TusClient(client, "a");
});

it.each(["sha1", "sha256", "md5"])(
  "bytes with a matching %s checksum are stored, others return 460",
  async (name) => {
    const image = await createUniqueImage();
    const path = await tus.createUpload(image.length);
    const algorithm = { sha1: "SHA-1", sha256: "SHA-256", md5: "MD5" }[name]!;
    for (const [from, to] of [
      [0, 6000],
      [6000, image.length],
    ] as const) {
      const bytes = image.subarray(from, to);
      const digest = Buffer.from(await crypto.subtle.digest(algorithm, bytes)).toString("base64");
      const checksum = { "upload-checksum": `${name} ${digest}` };
      const corrupted = bytes.slice();
      corrupted[9]! ^= 1;
      expect((await tus.patch(path, from, corrupted, checksum)).status).toBe(460);
      expect(await tus.offset(path)).toBe(from);
      expect((await tus.patch(path, from, bytes, checksum)).status).toBe(204);
    }
    expect(await tus.record(path)).toMatchObject({ state: "complete" });
  },
);

it("several parts with a wrong checksum return 460 and are discarded", async () => {
  const video = await createPaddedVideo(2 * PART_BYTES + 500);
  const path = await tus.createUpload(video.length);
  const wrong = { "upload-checksum": `md5 ${encode("x".repeat(16))}` };
  expect((await tus.patch(path, 0, video, wrong)).status).toBe(460);
  expect(await tus.record(path)).toMatchObject({ state: "open", offset: 0, asset_type: null });
  expect((await tus.patch(path, 0, video)).status).toBe(204);
  expect(await tus.record(path)).toMatchObject({ state: "complete" });
});
