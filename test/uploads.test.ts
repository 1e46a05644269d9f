import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { type Call, type Client, fixture, type Issue, newClient } from "./client.ts";
import { askDeployed } from "./deployed.ts";

let client: Client;

beforeAll(async () => {
  client = await newClient();
  for (const index_name of ["a", "b"])
    await client.json("POST", "/index", { json: { index_name } });
});

describe("an upload is refused with", () => {
  const video = "/index/a/video";
  it.each<[string, string, () => Promise<Call>, Issue[]]>([
    ["no file and no URL", video, async () => ({}), [[["body", "video_file"], "missing"]]],
    [
      "no file in the form",
      video,
      async () => ({ form: { metadata_str: "{}" } }),
      [[["body", "video_file"], "missing"]],
    ],
    [
      "a file and a URL",
      `${video}?video_url=https://example.org/a.mp4`,
      async () => ({ form: { video_file: await fixture("clip.mp4") } }),
      [[["body", "video_file"], "value_error"]],
    ],
    [
      "a text for the file",
      video,
      async () => ({ form: { video_file: "hello" } }),
      [[["body", "video_file"], "value_error"]],
    ],
    [
      "metadata that is not JSON, and an unreadable transcript",
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
      "metadata that is no object",
      video,
      async () => ({ form: { video_file: await fixture("clip.mp4"), metadata_str: "[1]" } }),
      [[["body", "metadata_str"], "dict_type"]],
    ],
    [
      "a URL that is none",
      `${video}?video_url=nonsense`,
      async () => ({}),
      [[["query", "video_url"], "url_parsing"]],
    ],
    [
      "a private URL",
      "/index/a/image?image_url=http://169.254.169.254/",
      async () => ({}),
      [[["query", "image_url"], "value_error"]],
    ],
  ])("%s", async (_, path, call, expected) => {
    expect(await client.issues("POST", path, await call())).toEqual(expected);
    expect((await client.json("GET", "/index/a")).total).toBe(0);
  });

  it.each<[string, string, () => Promise<Call>, number]>([
    [
      "a picture for a video",
      video,
      async () => ({ form: { video_file: await fixture("boats.jpg") } }),
      415,
    ],
    [
      "a video for a picture",
      "/index/a/image",
      async () => ({ form: { image_file: await fixture("clip.mp4") } }),
      415,
    ],
    ["an empty file", video, async () => ({ form: { video_file: new File([], "a.mp4") } }), 415],
    [
      "text called a video",
      video,
      async () => ({ form: { video_file: new File(["hello"], "a.mp4") } }),
      415,
    ],
    ["JSON", video, async () => ({ json: {} }), 415],
    [
      "a form that is cut off",
      video,
      async () => ({
        body: '--x\r\nContent-Disposition: form-data; name="video_file"; filename="a"\r\n\r\nabc',
        headers: { "content-type": "multipart/form-data; boundary=x" },
      }),
      400,
    ],
    [
      "a form without boundary",
      video,
      async () => ({ body: "abc", headers: { "content-type": "multipart/form-data" } }),
      400,
    ],
    [
      "a picture past the limit",
      "/index/a/image",
      async () => {
        const head = new Uint8Array(await (await fixture("boats.jpg")).arrayBuffer());
        return { form: { image_file: new File([head, new Uint8Array(20 * 1024 ** 2)], "a.jpg") } };
      },
      413,
    ],
  ])("%s: a sentence", async (_, path, call, status) => {
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
])("what is said of a file may come %s it", async (_, parts) => {
  const form = new FormData();
  for (const [name, value] of parts(await numbered("cut.mp4"))) form.append(name, value);
  const asset = await client.json("POST", "/index/b/video", { body: form });
  expect(asset).toMatchObject({ metadata: { a: 1 }, duplicate: false });
});

describe("a form is refused with", () => {
  const words = (count: number): [string, string][] =>
    Array.from({ length: count }, (_, i) => [`field-${i}`, "x"]);
  const files = (count: number): [string, File][] =>
    Array.from({ length: count }, (_, i) => [`file-${i}`, new File(["x"], "x")]);

  it.each<[string, [string, string | File][], RegExp]>([
    ["more than 20 fields", words(21), /more than 20 fields/],
    ["more than 5 files", files(6), /more than 5 files/],
    ["a field past the limit", [["metadata_str", `"${"x".repeat(2 ** 20)}"`]], /"metadata_str"/],
  ])("%s: 413", async (_, parts, message) => {
    const form = new FormData();
    for (const [name, value] of parts) form.append(name, value);
    form.append("image_file", await numbered("cut.jpg"));
    const response = await client.send("POST", "/index/b/image", { body: form });
    expect(response.status).toBe(413);
    const { detail } = await response.json<{ detail: string }>();
    expect(detail).toMatch(message);
  });

  it("20 fields and 5 files isn't", async () => {
    const form = new FormData();
    for (const [name, value] of [...words(20), ...files(4)]) form.append(name, value);
    form.append("image_file", await numbered("cut.jpg"));
    const asset = await client.json("POST", "/index/b/image", { body: form });
    expect(asset).toMatchObject({ duplicate: false });
  });
});

/** A fixture with bytes of its own behind. */
async function numbered(name: string): Promise<File> {
  return new File([await fixture(name), crypto.getRandomValues(new Uint8Array(16))], name);
}

describe("parts that were stored are given up", () => {
  /** The multipart uploads that were begun in storage, by their key. */
  function spied() {
    const begun: { key: string; uploadId: string }[] = [];
    const MEDIA = new Proxy(env.MEDIA, {
      get(bucket, name) {
        if (name === "createMultipartUpload") {
          return async (...given: Parameters<R2Bucket["createMultipartUpload"]>) => {
            const upload = await bucket.createMultipartUpload(...given);
            begun.push(upload);
            return upload;
          };
        }
        const member: unknown = Reflect.get(bucket, name);
        return typeof member === "function" ? member.bind(bucket) : member;
      },
    });
    return { MEDIA, begun };
  }

  const boundary = "multipart/form-data; boundary=x";
  const part = (name: string, file: string) =>
    new TextEncoder().encode(
      `\r\n--x\r\nContent-Disposition: form-data; name="${name}"; filename="${file}"\r\n\r\n`,
    );

  it.each<[string, number, Uint8Array[], boolean]>([
    ["when the connection breaks off", 400, [], true],
    ["when a second file comes", 422, [part("video_file", "b.mp4"), part("x", "y")], false],
  ])("%s", async (_, status, rest, breaks) => {
    const { MEDIA, begun } = spied();
    const clip = new Uint8Array(await (await fixture("clip.mp4")).arrayBuffer());
    const end = breaks ? [] : [new TextEncoder().encode("\r\n--x--\r\n")];
    const film = [part("video_file", "a.mp4"), clip, new Uint8Array(17 * 1024 ** 2)];
    const pieces = [...film, ...rest, ...end];
    const source: UnderlyingSource<Uint8Array> = {
      pull(controller) {
        const piece = pieces.shift();
        if (piece) controller.enqueue(piece);
        else if (breaks) controller.error(new Error("the line is dead"));
        else controller.close();
      },
    };
    const response = await askDeployed({ MEDIA }, client.key, "/index/b/video", {
      method: "POST",
      body: new ReadableStream(source, { highWaterMark: 0 }),
      headers: { "content-type": boundary },
    });
    expect(response.status).toBe(status);
    expect(begun.length).toBe(1);
    const [{ key, uploadId }] = begun as [{ key: string; uploadId: string }];
    expect(await env.MEDIA.head(key)).toBeNull();
    const again = env.MEDIA.resumeMultipartUpload(key, uploadId);
    await expect(again.uploadPart(9, "x")).rejects.toThrow("upload does not exist");
  });
});

it("an upload that breaks off in the middle of a file leaves nothing behind", async () => {
  const clip = new Uint8Array(await (await fixture("clip.mp4")).arrayBuffer());
  const head = '--x\r\nContent-Disposition: form-data; name="video_file"; filename="a.mp4"\r\n\r\n';
  const pieces = [new TextEncoder().encode(head), clip, new Uint8Array(9 * 1024 ** 2)];
  const body = new ReadableStream({
    pull(controller) {
      const piece = pieces.shift();
      if (piece) controller.enqueue(piece);
      else controller.error(new Error("the line is dead"));
    },
  });
  const headers = { "content-type": "multipart/form-data; boundary=x" };
  expect((await client.send("POST", "/index/a/video", { body, headers })).status).toBe(400);
  expect((await client.json("GET", "/index/a")).total).toBe(0);
  const { objects } = await env.MEDIA.list();
  expect(objects.filter(({ size }) => size > clip.length)).toEqual([]);
});
