import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { localMedia } from "../../local/local-media.ts";
import { DECODER_CONTAINER } from "../../src/decoder-container.ts";
import {
  type ConvertedFile,
  convertPart,
  measureFile,
  releaseFile,
} from "../../src/media/converter.ts";
import {
  type DecoderContainers,
  type ExternalDecoder,
  hasDecoder,
  requestDecoder,
} from "../../src/media/decoder.ts";
import { extractFrameAt } from "../../src/media/frames.ts";
import { fixture } from "../support/client.ts";

const { DECODER_URL, DECODER_KEY = "" }: ExternalDecoder = env;

type Respond = (path: string, init: RequestInit) => Promise<Response> | Response;

/** Containers that respond by `respond`. Adds the name of each that is called to `called`. */
function containers(respond: Respond, called: string[] = []): DecoderContainers {
  return {
    getByName: (name) => ({
      fetch: async (input: unknown, init?: unknown) => {
        called.push(name);
        const { pathname, search } = new URL(String(input));
        return respond(pathname + search, init as RequestInit);
      },
    }),
  };
}

/** A deployment with containers only. */
const withContainers = (DECODER: DecoderContainers, DECODER_INSTANCES = "") => ({
  ...env,
  DECODER,
  DECODER_INSTANCES,
  DECODER_URL: "",
  DECODER_KEY,
});

const toEngine: Respond = (path, init) => fetch(DECODER_URL + path, init);

const PART = {
  startMs: 0,
  endMs: 5000,
  frameFormat: { width: 320, height: 180, fps: 10 },
  audio: true,
  originSeconds: 0,
  bytes: null,
};

async function convertedFile(seed: string): Promise<ConvertedFile> {
  const bytes = new Uint8Array(await (await fixture("old.avi")).arrayBuffer());
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(seed));
  return {
    id: Buffer.from(digest).toString("hex"),
    sizeBytes: bytes.length,
    read: async (offset, length) => new Blob([bytes.subarray(offset, offset + length)]).stream(),
  };
}

describe("a decoder in containers", () => {
  it("measures and converts a file in one container", async () => {
    const called: string[] = [];
    const decoder = withContainers(containers(toEngine, called));
    const file = await convertedFile("a file of these tests");
    expect(await measureFile(decoder, file)).toMatchObject({ container: "avi" });
    const part = await new Response(await convertPart(decoder, file, PART)).bytes();
    expect(Buffer.from(part).subarray(4, 8).toString()).toBe("ftyp");
    await releaseFile(decoder, file);
    expect(called.length).toBeGreaterThan(4); // measured, missing, sent, measured, converted
    expect(new Set(called).size).toBe(1);
  });

  it("decodes a frame of a codec that FRAMES doesn't", async () => {
    const called: string[] = [];
    await env.MEDIA.put("clip", await (await fixture("vp9.mp4")).arrayBuffer());
    const decoder = { ...withContainers(containers(toEngine, called)), FRAMES: localMedia(env) };
    const jpeg = await extractFrameAt(decoder, "clip", 4);
    expect(Buffer.from(jpeg).subarray(0, 2).toString("hex")).toBe("ffd8");
    expect(called.length).toBe(1);
  });

  it.each([
    ["", DECODER_CONTAINER.instances],
    ["7", 7],
    ["1", 1],
    ["none", DECODER_CONTAINER.instances],
  ])("with DECODER_INSTANCES = %j shares files and clips among %i", async (setting, count) => {
    const call = async (fileId: string | null) => {
      const called: string[] = [];
      const decoder = withContainers(
        containers(() => new Response("ok"), called),
        setting,
      );
      const request = { method: "POST", fileId, timeoutMs: 1000 };
      await (await requestDecoder(decoder, "media/frame", request)).text();
      return called[0]!;
    };
    const names = new Set(Array.from({ length: count }, (_, i) => `decoder-${i}`));
    const ids = await Promise.all(
      Array.from({ length: 200 }, async (_, i) => (await convertedFile(String(i))).id),
    );
    const ofFiles = await Promise.all(ids.map(call));
    expect(new Set(ofFiles)).toEqual(names);
    expect(await Promise.all(ids.map(call))).toEqual(ofFiles);
    expect(new Set(await Promise.all(ids.map(() => call(null))))).toEqual(names);
  });
});

describe("a container", () => {
  const json = { "content-type": "application/json" };
  const busy = JSON.stringify({ error: { code: "busy", message: "Try again shortly." } });

  it.each<[title: string, respond: Respond, code: string]>([
    [
      "that is one too many",
      () => new Response("There is no Container instance available.", { status: 503 }),
      "upstream_unavailable",
    ],
    [
      "that starts after too many others",
      () => new Response("Too many containers per second.", { status: 429 }),
      "upstream_unavailable",
    ],
    [
      "that doesn't start",
      () => new Response("Failed to start container: exit 1", { status: 500 }),
      "upstream_unavailable",
    ],
    [
      "that ends during a request",
      () => new Response("Container suddenly disconnected", { status: 500 }),
      "upstream_unavailable",
    ],
    [
      "whose object fails",
      () => Promise.reject(new Error("Durable Object is overloaded.")),
      "upstream_unavailable",
    ],
    [
      "whose decoder is busy",
      () => new Response(busy, { status: 503, headers: json }),
      "upstream_unavailable",
    ],
    [
      "whose decoder fails at the file",
      () => new Response(busy, { status: 500, headers: json }),
      "too_complex",
    ],
    [
      "whose decoder takes too long for the file",
      () => new Response(busy, { status: 504, headers: json }),
      "too_complex",
    ],
    [
      "that ends during a request and is back at once",
      (path) =>
        path === "/health"
          ? Response.json({ ok: true })
          : new Response("Container suddenly disconnected", { status: 500 }),
      "too_complex",
    ],
    [
      "whose connection breaks off and that is back at once",
      (path) =>
        path === "/health"
          ? Response.json({ ok: true })
          : Promise.reject(new Error("Network connection lost.")),
      "too_complex",
    ],
    [
      "that was full and has space again",
      (path) =>
        path === "/health"
          ? Response.json({ ok: true })
          : new Response("There is no Container instance available.", { status: 503 }),
      "upstream_unavailable",
    ],
  ])("%s is tried again", async (_, respond, code) => {
    const decoder = withContainers(containers(respond));
    const file = await convertedFile("another");
    await expect(convertPart(decoder, file, PART)).rejects.toMatchObject({ code });
  });
});

it.each<[title: string, settings: ExternalDecoder, expected: boolean]>([
  ["has none without a setting", { DECODER_URL: "" }, false],
  ["has one at DECODER_URL", { DECODER_URL: "https://decoder.example" }, true],
  ["has one in containers", { DECODER_URL: "", DECODER: containers(toEngine) }, true],
])("a deployment %s", (_, settings, expected) => {
  expect(hasDecoder(settings)).toBe(expected);
});
