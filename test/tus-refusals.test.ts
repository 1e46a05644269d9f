import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { LIMITS, PART_BYTES } from "../src/config.ts";
import { Client, clientOf, type Issue, newClient } from "./client.ts";
import { encode, longFilm, newPicture, OCTETS, TusClient } from "./tus-client.ts";

let client: Client;
let tus: TusClient;
let path: string;

beforeAll(async () => {
  client = await newClient();
  await client.json("POST", "/index", { json: { index_name: "a" } });
  tus = new TusClient(client, "a");
  path = await tus.begin(1000);
});

const uploads = async () => (await client.json("GET", "/index/a/uploads")).total;

it("OPTIONS says what is understood, without a key", async () => {
  const response = await new Client("").send("OPTIONS", tus.all);
  expect(response.status).toBe(204);
  expect(Object.fromEntries(response.headers)).toMatchObject({
    "tus-resumable": "1.0.0",
    "tus-version": "1.0.0",
    "tus-extension":
      "creation,creation-with-upload,creation-defer-length,termination,expiration,checksum",
    "tus-max-size": String(LIMITS.uploadBytes),
    "tus-checksum-algorithm": "sha1,sha256,md5",
  });
});

it("a browser of another origin may send and read all that the protocol has", async () => {
  const asked =
    "tus-resumable,upload-offset,upload-length,upload-metadata,upload-checksum,x-api-key";
  const headers = {
    origin: "https://elsewhere.example",
    "access-control-request-method": "PATCH",
    "access-control-request-headers": asked,
  };
  const preflight = await new Client("").send("OPTIONS", path, { headers });
  expect(preflight.status).toBe(204);
  expect(preflight.headers.get("access-control-allow-origin")).toBe("*");
  const list = (response: Response, name: string) =>
    (response.headers.get(name) ?? "").toLowerCase().split(/, ?/);
  for (const method of ["post", "head", "patch", "delete"]) {
    expect(list(preflight, "access-control-allow-methods")).toContain(method);
  }
  for (const name of asked.split(",")) {
    expect(list(preflight, "access-control-allow-headers")).toContain(name);
  }
  const created = await tus.create({ "upload-length": "10", origin: headers.origin });
  const shown = list(created, "access-control-expose-headers");
  for (const name of ["location", "upload-offset", "upload-expires", "tus-resumable"]) {
    expect(shown).toContain(name);
    expect(created.headers.get(name)).not.toBeNull();
  }
  const gone = new URL(created.headers.get("location")!).pathname;
  await tus.send("DELETE", gone);
});

describe("a creation is refused", () => {
  it.each<[string, Record<string, string>, Issue[]]>([
    ["without a length", {}, [[["header", "upload-length"], "missing"]]],
    ["of nothing", { "upload-length": "0" }, [[["header", "upload-length"], "greater_than_equal"]]],
    [
      "of a length that is none",
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
      "with a name twice",
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
      "with metadata_str that is no object",
      { "upload-length": "9", "upload-metadata": `metadata_str ${encode("[1]")}` },
      [[["header", "upload-metadata", "metadata_str"], "dict_type"]],
    ],
  ])("%s: 422", async (_, headers, expected) => {
    const call = { headers: { "tus-resumable": "1.0.0", ...headers } };
    expect(await client.issues("POST", tus.all, call)).toEqual(expected);
  });

  it.each<[number, string, Record<string, string>, BodyInit | undefined]>([
    [
      413,
      "of more than a file may have",
      { "upload-length": String(LIMITS.uploadBytes + 1) },
      undefined,
    ],
    [413, "with more bytes than it says", { "upload-length": "3" }, "four"],
    [
      400,
      "with a length that is told and deferred",
      { "upload-length": "3", "upload-defer-length": "1" },
      undefined,
    ],
    [400, "with Upload-Defer-Length: 2", { "upload-defer-length": "2" }, undefined],
    [
      400,
      "as a part to be concatenated",
      { "upload-length": "3", "upload-concat": "partial" },
      undefined,
    ],
    [
      400,
      "with a checksum of an unknown kind",
      { "upload-length": "4", "upload-checksum": "crc32 AAAA" },
      "four",
    ],
    [412, "in another version", { "upload-length": "3", "tus-resumable": "0.2.2" }, undefined],
    [415, "with bytes of a text", { "upload-length": "4", "content-type": "text/plain" }, "four"],
    [415, "with the bytes of nothing that we know", { "upload-length": "4" }, "four"],
  ])("with %i %s", async (status, _, headers, body) => {
    const before = await uploads();
    const response = await tus.create(headers, body);
    expect(response.status).toBe(status);
    expect(response.headers.get("tus-resumable")).toBe("1.0.0");
    expect(response.headers.get("tus-version")).toBe(status === 412 ? "1.0.0" : null);
    expect(await response.json()).toEqual({ detail: expect.stringMatching(/^[A-Z].*[.!]$/) });
    expect(await uploads()).toBe(before);
  });
});

it("a refusal without a key speaks the protocol, too", async () => {
  for (const key of ["", "nonsense"]) {
    const response = await new TusClient(new Client(key), "a").create({ "upload-length": "3" });
    expect(response.status).toBe(401);
    expect(response.headers.get("tus-resumable")).toBe("1.0.0");
  }
});

describe("what comes next is refused", () => {
  it.each<[number, string, Record<string, string>, string]>([
    [409, "from elsewhere", { "upload-offset": "5" }, "four"],
    [412, "in another version", { "tus-resumable": "2.0.0" }, "four"],
    [413, "beyond the end", {}, "x".repeat(1001)],
    [
      413,
      "with a length of more than a file may have",
      { "upload-length": String(LIMITS.uploadBytes + 1) },
      "four",
    ],
    [409, "with another length", { "upload-length": "999" }, "four"],
    [415, "as another type", { "content-type": "application/octet-stream" }, "four"],
    [400, "with half a checksum", { "upload-checksum": "sha1" }, "four"],
    [
      460,
      "with the checksum of other bytes",
      { "upload-checksum": `sha1 ${encode("x".repeat(20))}` },
      "four",
    ],
  ])("with %i %s", async (status, _, headers, body) => {
    const response = await tus.patch(path, 0, body, headers);
    expect(response.status).toBe(status);
    expect(response.headers.get("tus-resumable")).toBe("1.0.0");
    expect(await response.json()).toEqual({ detail: expect.stringMatching(/^[A-Z].*[.!]$/) });
    expect(await tus.offset(path)).toBe(0);
  });

  it.each<[string, Record<string, string>, Issue[]]>([
    ["without an offset", {}, [[["header", "upload-offset"], "missing"]]],
    ["from nowhere", { "upload-offset": "x" }, [[["header", "upload-offset"], "int_parsing"]]],
  ])("%s: 422", async (_, headers, expected) => {
    const call = {
      headers: { "tus-resumable": "1.0.0", "content-type": OCTETS, ...headers },
      body: "four",
    };
    expect(await client.issues("PATCH", path, call)).toEqual(expected);
  });

  it("where nobody says how much comes, and more comes than fits", async () => {
    const film = await longFilm(PART_BYTES + 100);
    const own = await tus.begin(PART_BYTES);
    const pieces = [film.subarray(0, PART_BYTES), film.subarray(PART_BYTES)];
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        const piece = pieces.shift();
        if (piece) controller.enqueue(piece);
        else controller.close();
      },
    });
    expect((await tus.patch(own, 0, body)).status).toBe(413);
    expect(await tus.record(own)).toMatchObject({ state: "open", offset: 0 });
  });
});

it.each(["sha1", "sha256", "md5"])("bytes with their %s count", async (name) => {
  const picture = await newPicture();
  const own = await tus.begin(picture.length);
  const algorithm = { sha1: "SHA-1", sha256: "SHA-256", md5: "MD5" }[name]!;
  for (const [from, to] of [
    [0, 6000],
    [6000, picture.length],
  ] as const) {
    const bytes = picture.subarray(from, to);
    const digest = Buffer.from(await crypto.subtle.digest(algorithm, bytes)).toString("base64");
    const checksum = { "upload-checksum": `${name} ${digest}` };
    const spoilt = bytes.slice();
    spoilt[9]! ^= 1;
    expect((await tus.patch(own, from, spoilt, checksum)).status).toBe(460);
    expect(await tus.offset(own)).toBe(from);
    expect((await tus.patch(own, from, bytes, checksum)).status).toBe(204);
  }
  expect(await tus.record(own)).toMatchObject({ state: "complete" });
});

it("many parts with a wrong checksum count for nothing, and leave nothing", async () => {
  const film = await longFilm(2 * PART_BYTES + 500);
  const own = await tus.begin(film.length);
  const wrong = { "upload-checksum": `md5 ${encode("x".repeat(16))}` };
  expect((await tus.patch(own, 0, film, wrong)).status).toBe(460);
  expect(await tus.record(own)).toMatchObject({ state: "open", offset: 0, asset_type: null });
  expect((await tus.patch(own, 0, film)).status).toBe(204);
  expect(await tus.record(own)).toMatchObject({ state: "complete" });
});

describe("an upload is ended where it is", () => {
  it.each<[string, number, number, () => Promise<Uint8Array>]>([
    [
      "of no kind that we know",
      415,
      20_000,
      async () => crypto.getRandomValues(new Uint8Array(20_000)),
    ],
    ["a text of a few bytes", 415, 5, async () => new TextEncoder().encode("hello")],
    ["an image past the limit", 413, LIMITS.imageBytes + 1, newPicture],
  ])("%s", async (_, status, length, bytes) => {
    const own = await tus.begin(length);
    const sent = await bytes();
    expect((await tus.patch(own, 0, sent.slice())).status).toBe(status);
    expect(await tus.offset(own)).toBe("status 404");
    expect((await env.MEDIA.list({ prefix: "uploads/" })).objects).toEqual([]);
  });
});

describe("an upload of another account", () => {
  it.each(["GET", "HEAD", "PATCH", "DELETE", "POST"])("is nowhere for %s", async (method) => {
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
    const nothing = await other.send(method, `${tus.all}/upl_0`, { headers, ...body });
    const named = (text: string) => text.replaceAll(/upl_\w+/g, "");
    expect(named(await response.text())).toBe(named(await nothing.text()));
    expect(await tus.offset(path)).toBe(0);
  });

  it("needs the scope to write", async () => {
    const reader = new TusClient(await clientOf("readers", ["read"]), "a");
    expect((await reader.send("HEAD", path)).status).toBe(403);
    expect((await reader.create({ "upload-length": "9" })).status).toBe(403);
  });
});
