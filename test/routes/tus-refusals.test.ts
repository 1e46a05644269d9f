import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { LIMITS, PART_BYTES } from "../../src/config.ts";
import { Client, clientOf, type Issue, newClient } from "../support/client.ts";
import {
  encode,
  createPaddedVideo,
  createUniqueImage,
  OCTETS,
  TusClient,
} from "../support/tus-client.ts";

let client: Client;
let tus: TusClient;
let path: string;

beforeAll(async () => {
  client = await newClient();
  await client.json("POST", "/index", { json: { index_name: "a" } });
  tus = new TusClient(client, "a");
  path = await tus.createUpload(1000);
});

const countUploads = async () => (await client.json("GET", "/index/a/uploads")).total;

it("OPTIONS without a key returns the supported tus extensions", async () => {
  const response = await new Client("").send("OPTIONS", tus.uploadsPath);
  expect(response.status).toBe(204);
  expect(Object.fromEntries(response.headers)).toMatchObject({
    "tus-resumable": "1.0.0",
    "tus-version": "1.0.0",
    "tus-extension": "creation,creation-with-upload,termination,expiration,checksum",
    "tus-max-size": String(LIMITS.uploadBytes),
    "tus-checksum-algorithm": "sha1,sha256,md5",
  });
});

it("CORS allows all tus methods and headers to any origin", async () => {
  const requestedHeaders =
    "tus-resumable,upload-offset,upload-length,upload-metadata,upload-checksum,x-api-key";
  const headers = {
    origin: "https://elsewhere.example",
    "access-control-request-method": "PATCH",
    "access-control-request-headers": requestedHeaders,
  };
  const preflight = await new Client("").send("OPTIONS", path, { headers });
  expect(preflight.status).toBe(204);
  expect(preflight.headers.get("access-control-allow-origin")).toBe("*");
  const list = (response: Response, name: string) =>
    (response.headers.get(name) ?? "").toLowerCase().split(/, ?/);
  for (const method of ["post", "head", "patch", "delete"]) {
    expect(list(preflight, "access-control-allow-methods")).toContain(method);
  }
  for (const name of requestedHeaders.split(",")) {
    expect(list(preflight, "access-control-allow-headers")).toContain(name);
  }
  const created = await tus.create({ "upload-length": "10", origin: headers.origin });
  const exposed = list(created, "access-control-expose-headers");
  for (const name of ["location", "upload-offset", "upload-expires", "tus-resumable"]) {
    expect(exposed).toContain(name);
    expect(created.headers.get(name)).not.toBeNull();
  }
  const createdPath = new URL(created.headers.get("location")!).pathname;
  await tus.send("DELETE", createdPath);
});

describe("creating an upload", () => {
  it.each<[string, Record<string, string>, Issue[]]>([
    ["without a length", {}, [[["header", "upload-length"], "missing"]]],
    [
      "of zero bytes",
      { "upload-length": "0" },
      [[["header", "upload-length"], "greater_than_equal"]],
    ],
    [
      "of a length that isn't a number",
      { "upload-length": "ten" },
      [[["header", "upload-length"], "int_parsing"]],
    ],
    [
      "of a negative length",
      { "upload-length": "-1" },
      [[["header", "upload-length"], "int_parsing"]],
    ],
    [
      "with metadata that isn't base64, and no length",
      { "upload-metadata": "filename a.mp4" },
      [
        [["header", "upload-metadata"], "value_error"],
        [["header", "upload-length"], "missing"],
      ],
    ],
    [
      "with a duplicate metadata name",
      { "upload-length": "9", "upload-metadata": "a YQ==,a YQ==" },
      [[["header", "upload-metadata"], "value_error"]],
    ],
    [
      "with a file name that isn't UTF-8",
      { "upload-length": "9", "upload-metadata": "filename /w==" },
      [[["header", "upload-metadata"], "value_error"]],
    ],
    [
      "with metadata_str that isn't JSON",
      { "upload-length": "9", "upload-metadata": `metadata_str ${encode("{")}` },
      [[["header", "upload-metadata", "metadata_str"], "json_invalid"]],
    ],
    [
      "with metadata_str that isn't an object",
      { "upload-length": "9", "upload-metadata": `metadata_str ${encode("[1]")}` },
      [[["header", "upload-metadata", "metadata_str"], "dict_type"]],
    ],
  ])("%s returns 422", async (_, headers, expected) => {
    const call = { headers: { "tus-resumable": "1.0.0", ...headers } };
    expect(await client.issues("POST", tus.uploadsPath, call)).toEqual(expected);
  });

  it.each<[number, string, Record<string, string>, BodyInit | undefined]>([
    [
      413,
      "above the file size limit",
      { "upload-length": String(LIMITS.uploadBytes + 1) },
      undefined,
    ],
    [413, "with more bytes than announced", { "upload-length": "3" }, "four"],
    [
      400,
      "of a part for concatenation",
      { "upload-length": "3", "upload-concat": "partial" },
      undefined,
    ],
    [
      400,
      "with an unknown checksum algorithm",
      { "upload-length": "4", "upload-checksum": "crc32 AAAA" },
      "four",
    ],
    [
      412,
      "with another tus version",
      { "upload-length": "3", "tus-resumable": "0.2.2" },
      undefined,
    ],
    [
      415,
      "with the content type of text",
      { "upload-length": "4", "content-type": "text/plain" },
      "four",
    ],
    [415, "with the bytes of an unknown media type", { "upload-length": "4" }, "four"],
  ])("returns %i %s", async (status, _, headers, body) => {
    const before = await countUploads();
    const response = await tus.create(headers, body);
    expect(response.status).toBe(status);
    expect(response.headers.get("tus-resumable")).toBe("1.0.0");
    expect(response.headers.get("tus-version")).toBe(status === 412 ? "1.0.0" : null);
    expect(await response.json()).toEqual({ detail: expect.stringMatching(/^[A-Z].*[.!]$/) });
    expect(await countUploads()).toBe(before);
  });
});

it("a request without a valid key returns 401 with tus headers", async () => {
  for (const key of ["", "nonsense"]) {
    const response = await new TusClient(new Client(key), "a").create({ "upload-length": "3" });
    expect(response.status).toBe(401);
    expect(response.headers.get("tus-resumable")).toBe("1.0.0");
  }
});

describe("a PATCH", () => {
  it.each<[number, string, Record<string, string>, string]>([
    [409, "with another offset", { "upload-offset": "5" }, "four"],
    [412, "with another tus version", { "tus-resumable": "2.0.0" }, "four"],
    [413, "beyond the upload's length", {}, "x".repeat(1001)],
    [415, "with another content type", { "content-type": "application/octet-stream" }, "four"],
    [400, "with an incomplete checksum", { "upload-checksum": "sha1" }, "four"],
    [
      460,
      "with the checksum of other bytes",
      { "upload-checksum": `sha1 ${encode("x".repeat(20))}` },
      "four",
    ],
  ])("returns %i %s", async (status, _, headers, body) => {
    const response = await tus.patch(path, 0, body, headers);
    expect(response.status).toBe(status);
    expect(response.headers.get("tus-resumable")).toBe("1.0.0");
    expect(await response.json()).toEqual({ detail: expect.stringMatching(/^[A-Z].*[.!]$/) });
    expect(await tus.offset(path)).toBe(0);
  });

  it.each<[string, Record<string, string>, Issue[]]>([
    ["without an offset", {}, [[["header", "upload-offset"], "missing"]]],
    [
      "with an offset that isn't a number",
      { "upload-offset": "x" },
      [[["header", "upload-offset"], "int_parsing"]],
    ],
  ])("%s returns 422", async (_, headers, expected) => {
    const call = {
      headers: { "tus-resumable": "1.0.0", "content-type": OCTETS, ...headers },
      body: "four",
    };
    expect(await client.issues("PATCH", path, call)).toEqual(expected);
  });

  it("without Content-Length beyond the upload's length returns 413", async () => {
    const video = await createPaddedVideo(PART_BYTES + 100);
    const otherPath = await tus.createUpload(PART_BYTES);
    const chunks = [video.subarray(0, PART_BYTES), video.subarray(PART_BYTES)];
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        const chunk = chunks.shift();
        if (chunk) controller.enqueue(chunk);
        else controller.close();
      },
    });
    expect((await tus.patch(otherPath, 0, body)).status).toBe(413);
    expect(await tus.record(otherPath)).toMatchObject({ state: "open", offset: 0 });
  });
});

describe("a PATCH deletes its upload", () => {
  it.each<[string, number, number, () => Promise<Uint8Array>]>([
    [
      "of an unknown media type",
      415,
      20_000,
      async () => crypto.getRandomValues(new Uint8Array(20_000)),
    ],
    ["of a few bytes of text", 415, 5, async () => new TextEncoder().encode("hello")],
    ["of an image above the size limit", 413, LIMITS.imageBytes + 1, createUniqueImage],
  ])("%s", async (_, status, length, bytes) => {
    const otherPath = await tus.createUpload(length);
    const sent = await bytes();
    expect((await tus.patch(otherPath, 0, sent.slice())).status).toBe(status);
    expect(await tus.offset(otherPath)).toBe("status 404");
    expect((await env.MEDIA.list({ prefix: "uploads/" })).objects).toEqual([]);
  });
});

describe("an upload of another account", () => {
  it.each(["GET", "HEAD", "PATCH", "DELETE", "POST"])("returns 404 to %s", async (method) => {
    const stranger = await newClient();
    await stranger.json("POST", "/index", { json: { index_name: "a" } });
    const other = new TusClient(stranger, "a");
    const headers = {
      "upload-offset": "0",
      "content-type": OCTETS,
      "x-http-method-override": "DELETE",
    };
    const body = ["PATCH", "POST"].includes(method) ? { body: "four" } : {};
    const response = await other.send(method, path, { headers, ...body });
    expect(response.status).toBe(404);
    const unknownUpload = await other.send(method, `${tus.uploadsPath}/upl_0`, {
      headers,
      ...body,
    });
    const withoutId = (text: string) => text.replaceAll(/upl_\w+/g, "");
    expect(withoutId(await response.text())).toBe(withoutId(await unknownUpload.text()));
    expect(await tus.offset(path)).toBe(0);
  });

  it("returns 403 to a key without the write scope", async () => {
    const reader = new TusClient(await clientOf("readers", ["read"]), "a");
    expect((await reader.send("HEAD", path)).status).toBe(403);
    expect((await reader.create({ "upload-length": "9" })).status).toBe(403);
  });
});
