import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { type Call, type Client, fixture, type Issue, newClient } from "./client.ts";

let client: Client;

beforeAll(async () => {
  client = await newClient();
  await client.json("POST", "/index", { json: { index_name: "a" } });
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
  expect((await env.MEDIA.list()).objects).toEqual([]);
});
