import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { PART_BYTES } from "../../src/config.ts";
import { fixture, newClient } from "../support/client.ts";
import { fetchDeployed } from "../support/deployed.ts";
import { expectFreeBytes, setLimits } from "../support/quota-accounts.ts";
import { createPaddedVideo, encode, TusClient } from "../support/tus-client.ts";
import { waitFor } from "../support/wait.ts";

it("parts of an upload that its checksum discards count until the upload ends", async () => {
  const client = await newClient();
  await client.json("POST", "/index", { json: { index_name: "a" } });
  const tus = new TusClient(client, "a");
  const video = await createPaddedVideo(3 * PART_BYTES);
  await setLimits(client, { stored_bytes: 3 * PART_BYTES });
  const path = await tus.createUpload(video.length);
  expect((await tus.patch(path, 0, video.subarray(0, PART_BYTES))).status).toBe(204);
  const wrong = { "upload-checksum": `md5 ${encode("x".repeat(16))}` };
  const rest = video.subarray(PART_BYTES);
  const statuses: number[] = [];
  for (let i = 0; i < 3; i++) {
    statuses.push((await tus.patch(path, PART_BYTES, rest, wrong)).status);
  }
  expect(statuses).toEqual([460, 460, 402]);
  await tus.send("DELETE", path);
  await expectFreeBytes(client, "a", 3 * PART_BYTES);
});

/** A bucket that counts the bytes of objects and parts that are stored in it. */
function countingBucket() {
  const put = { bytes: 0 };
  const wrap = <Target extends object>(target: Target): Target =>
    new Proxy(target, {
      get(_, name) {
        const value: unknown = Reflect.get(target, name, target);
        if (typeof value !== "function") return value;
        return async (...args: unknown[]) => {
          const bytes = args[1];
          if ((name === "put" || name === "uploadPart") && bytes instanceof Uint8Array) {
            put.bytes += bytes.length;
          }
          const result: unknown = await Reflect.apply(value, target, args);
          return name === "createMultipartUpload" ? wrap(result as object) : result;
        };
      },
    });
  return { MEDIA: wrap(env.MEDIA), put };
}

describe("a form of unknown length stores less than a part beyond the room", () => {
  it.each([
    ["a video", "/index/a/video"],
    ["a clip to search by", "/index/a/search_video"],
  ])("%s", async (_, path) => {
    const client = await newClient();
    await client.json("POST", "/index", { json: { index_name: "a" } });
    await setLimits(client, { stored_bytes: 2 * PART_BYTES });
    const bytes = await createPaddedVideo(5 * PART_BYTES);
    const form = new FormData();
    form.append("video_file", new File([bytes], "v.mp4"));
    const { body, headers } = new Response(form);
    const { MEDIA, put } = countingBucket();
    const response = await fetchDeployed({ MEDIA }, client.key, path, {
      method: "POST",
      body: body!.pipeThrough(new TransformStream()),
      headers: { "content-type": headers.get("content-type")! },
    });
    expect(response.status).toBe(402);
    expect(put.bytes).toBeLessThanOrEqual(2 * PART_BYTES);
    await waitFor(() => expectFreeBytes(client, "a", 2 * PART_BYTES));
  });
});

describe("concurrent writes share the room exactly", () => {
  it("of clips to search by, which end with their search", async () => {
    const client = await newClient();
    await client.json("POST", "/index", { json: { index_name: "a" } });
    const clip = await fixture("clip.mp4");
    await setLimits(client, { stored_bytes: 2 * clip.size + 10 });
    let stored = 0;
    let most = 0;
    const MEDIA = new Proxy(env.MEDIA, {
      get(bucket, name) {
        if (name === "put") {
          return async (key: string, value: Uint8Array, options: R2PutOptions) => {
            most = Math.max(most, (stored += value.length));
            return bucket.put(key, value, options);
          };
        }
        if (name === "delete") stored -= clip.size;
        const value: unknown = Reflect.get(bucket, name, bucket);
        return typeof value === "function" ? value.bind(bucket) : value;
      },
    });
    const responses = await Promise.all(
      Array.from({ length: 8 }, () => {
        const form = new FormData();
        form.append("video_file", clip);
        const { body, headers } = new Response(form);
        return fetchDeployed({ MEDIA }, client.key, "/index/a/search_video", {
          method: "POST",
          body: body!.pipeThrough(new TransformStream()),
          headers: { "content-type": headers.get("content-type")! },
        });
      }),
    );
    const statuses = new Set(responses.map(({ status }) => status));
    expect([...statuses].toSorted((a, b) => a - b)).toEqual([200, 402]);
    expect(most).toBeLessThanOrEqual(2 * clip.size);
    await expectFreeBytes(client, "a", 2 * clip.size + 10);
  });
});
