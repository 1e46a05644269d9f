import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import {
  type Call,
  type Client,
  fixture,
  type Issue,
  newClient,
  uniqueFixture,
} from "../support/client.ts";
import { fetchDeployed } from "../support/deployed.ts";

let client: Client;

beforeAll(async () => {
  client = await newClient();
  for (const index_name of ["a", "b"])
    await client.json("POST", "/index", { json: { index_name } });
});

describe("adding an asset by a form", () => {
  const video = "/index/a/video";
  it.each<[string, string, () => Promise<Call>, Issue[]]>([
    ["without file and URL", video, async () => ({}), [[["body", "video_file"], "missing"]]],
    [
      "without a file in the form",
      video,
      async () => ({ form: { metadata_str: "{}" } }),
      [[["body", "video_file"], "missing"]],
    ],
    [
      "with a file and a URL",
      `${video}?video_url=https://example.org/a.mp4`,
      async () => ({ form: { video_file: await fixture("clip.mp4") } }),
      [[["body", "video_file"], "value_error"]],
    ],
    [
      "with text in place of the file",
      video,
      async () => ({ form: { video_file: "hello" } }),
      [[["body", "video_file"], "value_error"]],
    ],
    [
      "with metadata that isn't JSON and an unreadable transcript",
      video,
      async () => ({
        form: {
          video_file: await fixture("clip.mp4"),
          metadata_str: "{",
          transcript: new File([" "], "a.srt"),
        },
      }),
      [
        [["body", "metadata_str"], "json_invalid"],
        [["body", "transcript"], "value_error"],
      ],
    ],
    [
      "with metadata that isn't an object",
      video,
      async () => ({ form: { video_file: await fixture("clip.mp4"), metadata_str: "[1]" } }),
      [[["body", "metadata_str"], "dict_type"]],
    ],
    [
      "with an invalid URL",
      `${video}?video_url=nonsense`,
      async () => ({}),
      [[["query", "video_url"], "url_parsing"]],
    ],
    [
      "with a private URL",
      "/index/a/image?image_url=http://169.254.169.254/",
      async () => ({}),
      [[["query", "image_url"], "value_error"]],
    ],
  ])("%s returns 422", async (_, path, call, expected) => {
    expect(await client.issues("POST", path, await call())).toEqual(expected);
    expect((await client.json("GET", "/index/a")).total).toBe(0);
  });

  it.each<[string, string, () => Promise<Call>, number]>([
    [
      "with an image in place of a video",
      video,
      async () => ({ form: { video_file: await fixture("boats.jpg") } }),
      415,
    ],
    [
      "with a video in place of an image",
      "/index/a/image",
      async () => ({ form: { image_file: await fixture("clip.mp4") } }),
      415,
    ],
    [
      "with an empty file",
      video,
      async () => ({ form: { video_file: new File([], "a.mp4") } }),
      415,
    ],
    [
      "with text in a video file",
      video,
      async () => ({ form: { video_file: new File(["hello"], "a.mp4") } }),
      415,
    ],
    ["with JSON", video, async () => ({ json: {} }), 415],
    [
      "with a truncated form",
      video,
      async () => ({
        body: '--x\r\nContent-Disposition: form-data; name="video_file"; filename="a"\r\n\r\nabc',
        headers: { "content-type": "multipart/form-data; boundary=x" },
      }),
      400,
    ],
    [
      "with a form without boundary",
      video,
      async () => ({ body: "abc", headers: { "content-type": "multipart/form-data" } }),
      400,
    ],
    [
      "with an image above the size limit",
      "/index/a/image",
      async () => {
        const head = new Uint8Array(await (await fixture("boats.jpg")).arrayBuffer());
        return { form: { image_file: new File([head, new Uint8Array(20 * 1024 ** 2)], "a.jpg") } };
      },
      413,
    ],
  ])("%s returns an error message", async (_, path, call, status) => {
    const response = await client.send("POST", path, await call());
    expect(response.status).toBe(status);
    expect(await response.json()).toEqual({ detail: expect.stringMatching(/^[A-Z].*[.!]$/) });
    expect((await client.json("GET", "/index/a")).total).toBe(0);
  });
});

it.each<[string, (clip: File) => [string, string | File][]]>([
  [
    "before",
    (clip) => [
      ["metadata_str", '{"a":1}'],
      ["transcript", "Hello."],
      ["video_file", clip],
    ],
  ],
  [
    "behind",
    (clip) => [
      ["video_file", clip],
      ["transcript", "Hello."],
      ["metadata_str", '{"a":1}'],
    ],
  ],
])("form fields may come %s their file", async (_, parts) => {
  const form = new FormData();
  for (const [name, value] of parts(await uniqueFixture("truncated.mp4"))) form.append(name, value);
  const asset = await client.json("POST", "/index/b/video", { body: form });
  expect(asset).toMatchObject({ metadata: { a: 1 }, duplicate: false });
});

describe("a multipart upload in storage is aborted", () => {
  /** Returns a bucket that records the multipart uploads it creates. */
  function recordMultipartUploads() {
    const created: { key: string; uploadId: string }[] = [];
    const MEDIA = new Proxy(env.MEDIA, {
      get(bucket, name) {
        if (name === "createMultipartUpload") {
          return async (...args: Parameters<R2Bucket["createMultipartUpload"]>) => {
            const upload = await bucket.createMultipartUpload(...args);
            created.push(upload);
            return upload;
          };
        }
        const member: unknown = Reflect.get(bucket, name);
        return typeof member === "function" ? member.bind(bucket) : member;
      },
    });
    return { MEDIA, created };
  }

  const boundary = "multipart/form-data; boundary=x";
  const part = (name: string, file: string) =>
    new TextEncoder().encode(
      `\r\n--x\r\nContent-Disposition: form-data; name="${name}"; filename="${file}"\r\n\r\n`,
    );

  it.each<[string, number, Uint8Array[], boolean]>([
    ["when the connection breaks", 400, [], true],
    ["when a second file comes", 422, [part("video_file", "b.mp4"), part("x", "y")], false],
  ])("%s", async (_, status, rest, disconnects) => {
    const { MEDIA, created } = recordMultipartUploads();
    const clip = new Uint8Array(await (await fixture("clip.mp4")).arrayBuffer());
    const end = disconnects ? [] : [new TextEncoder().encode("\r\n--x--\r\n")];
    const file = [part("video_file", "a.mp4"), clip, new Uint8Array(17 * 1024 ** 2)];
    const chunks = [...file, ...rest, ...end];
    const source: UnderlyingSource<Uint8Array> = {
      pull(controller) {
        const chunk = chunks.shift();
        if (chunk) controller.enqueue(chunk);
        else if (disconnects) controller.error(new Error("connection lost"));
        else controller.close();
      },
    };
    const response = await fetchDeployed({ MEDIA }, client.key, "/index/b/video", {
      method: "POST",
      body: new ReadableStream(source, { highWaterMark: 0 }),
      headers: { "content-type": boundary },
    });
    expect(response.status).toBe(status);
    expect(created.length).toBe(1);
    const [{ key, uploadId }] = created as [{ key: string; uploadId: string }];
    expect(await env.MEDIA.head(key)).toBeNull();
    const resumed = env.MEDIA.resumeMultipartUpload(key, uploadId);
    await expect(resumed.uploadPart(9, "x")).rejects.toThrow("upload does not exist");
  });
});

it("a connection that breaks in the middle of a file leaves no asset and no object", async () => {
  const clip = new Uint8Array(await (await fixture("clip.mp4")).arrayBuffer());
  const head = '--x\r\nContent-Disposition: form-data; name="video_file"; filename="a.mp4"\r\n\r\n';
  const chunks = [new TextEncoder().encode(head), clip, new Uint8Array(9 * 1024 ** 2)];
  const body = new ReadableStream({
    pull(controller) {
      const chunk = chunks.shift();
      if (chunk) controller.enqueue(chunk);
      else controller.error(new Error("connection lost"));
    },
  });
  const headers = { "content-type": "multipart/form-data; boundary=x" };
  expect((await client.send("POST", "/index/a/video", { body, headers })).status).toBe(400);
  expect((await client.json("GET", "/index/a")).total).toBe(0);
  const { objects } = await env.MEDIA.list();
  expect(objects.filter(({ size }) => size > clip.length)).toEqual([]);
});
