import { env } from "cloudflare:workers";
import { SignJWT } from "jose";
import { beforeAll, describe, expect, it } from "vitest";
import {
  keySecrets,
  parseSecrets,
  SIGNATURE_CHARACTERS,
  verifyToken,
  signMediaKey,
  verifyMediaToken,
} from "../../src/signed-token.ts";
import { Client, fixture, type Json, newClient } from "../support/client.ts";
import { createSampleIndex } from "../support/sample-index.ts";
import { waitUntil } from "../support/wait.ts";

const HOUR_MS = 3_600_000;
const anonymous = new Client("");

let client: Client;
let video: Json;

beforeAll(async () => {
  ({ client, video } = await createSampleIndex());
});

describe("a media token", () => {
  const secrets = () => keySecrets(env);
  const tokenOf = (url: string) => new URL(url).pathname.split("/")[2]!;
  const objectKey = async () => (await verifyMediaToken(secrets(), tokenOf(video.media_url)))!.key;
  const make = async (key: string, expiresAt = Date.now() + HOUR_MS) =>
    signMediaKey(secrets(), key, expiresAt);

  it("gives access to one object for an hour", async () => {
    expect(await objectKey()).toMatch(new RegExp(`/${video.asset_id}/source$`));
    const { payload } = (await verifyToken(secrets(), "media", tokenOf(video.media_url)))!;
    const remaining = payload.readUInt32BE() * 1000 - Date.now();
    expect(remaining).toBeLessThanOrEqual(HOUR_MS);
    expect(remaining).toBeGreaterThan(HOUR_MS / 2);
    const token = await make(await objectKey());
    expect((await anonymous.send("HEAD", `/media/${token}/x`)).status).toBe(200);
  });

  it("is the same within a minute, so that a browser finds what it has cached", async () => {
    const urls: string[] = [];
    for (let i = 0; i < 3; i++) {
      const record = await client.json("GET", `/index/trip/video/${video.asset_id}`);
      urls.push(record.media_url);
    }
    expect(new Set(urls).size).toBeLessThan(3); // a minute may end between two of them
  });

  it.each([
    ["a film of a rather ordinary summer.mp4", "a%20film%20of.mp4"],
    ["IMG_2024 (1) – Großmutters 80. Geburtstag, Überraschungsfest.mp4", "IMG_2024%20(1).mp4"],
    ["第二次世界大戦後の日本における映画館の歴史と建築.mp4", "%E7%AC%AC.mp4"],
    ["x".repeat(200), "xxxxxxxxxxxxxxxx"],
  ])("is in a URL of at most 220 characters that begins %s's name", async (title, name) => {
    const host = "https://sightline-production.team.workers.dev";
    const path = `${host}/index/trip/video/${video.asset_id}`;
    const { media_url, thumbnail_url } = await client.json("PATCH", path, { json: { title } });
    const { nodes } = await client.json("GET", `${host}/index/trip/traverse`);
    const clipUrls: string[] = nodes.flatMap(({ segments }: Json) =>
      segments.map(({ clip_url }: Json) => clip_url),
    );
    for (const url of [media_url, thumbnail_url, ...clipUrls]) {
      expect(url.length, url).toBeLessThanOrEqual(220);
    }
    expect(media_url.split("/").at(-1)).toMatch(new RegExp(`^${name.replaceAll(/[()]/g, "\\$&")}`));
    expect((await anonymous.send("HEAD", new URL(media_url).pathname)).status).toBe(200);
  });

  it.each<[string, () => Promise<string> | string]>([
    ["is changed", () => tokenOf(video.media_url).replace(/_[\w-]{5}/, "_AAAAA")],
    ["lacks its signature", () => tokenOf(video.media_url).slice(0, -SIGNATURE_CHARACTERS)],
    [
      "has another's signature",
      async () => {
        const other = await make(`${await objectKey()}x`);
        const payload = tokenOf(video.media_url).slice(0, -SIGNATURE_CHARACTERS);
        return payload + other.slice(-SIGNATURE_CHARACTERS);
      },
    ],
    ["has expired", async () => make(await objectKey(), Date.now() - 1)],
    ["has another kid", async () => (await make(await objectKey())).replace(/^[^_]+/, "k9")],
    ["has no kid", async () => (await make(await objectKey())).replace(/^[^_]+/, "")],
    [
      "is signed by another secret with the same kid",
      async () => {
        const [kid] = [...secrets()][0]!;
        const other = parseSecrets(`${kid}:${"A".repeat(43)}`);
        return signMediaKey(other, await objectKey(), Date.now() + HOUR_MS);
      },
    ],
    ["is an API key", () => client.key],
    ["is an API key without its prefix", () => client.key.slice("sl_".length)],
    [
      "is a JWT with the same secret",
      async () => {
        const [kid, secret] = [...secrets()][0]!;
        const token = new SignJWT().setSubject(await objectKey()).setExpirationTime("1h");
        return token.setProtectedHeader({ alg: "HS256", kid }).sign(secret);
      },
    ],
    ["is for an object that doesn't exist", async () => make(`${await objectKey()}/../x`)],
    ["isn't a token", () => "x"],
  ])("that %s returns 404 without a reason", async (_, token) => {
    for (const method of ["GET", "HEAD"]) {
      const response = await anonymous.send(method, `/media/${await token()}/x.mp4`);
      expect(response.status).toBe(404);
      expect(response.headers.get("cache-control")).toBe("private, no-store");
      if (method === "HEAD") continue;
      expect(await response.json()).toEqual({
        detail: "The media URL has expired or its file is missing; get a new URL from the API.",
      });
    }
  });

  it("isn't accepted as an API key", async () => {
    const response = await new Client(tokenOf(video.media_url)).send("GET", "/index");
    expect(response.status).toBe(401);
  });

  it("of an asset can't be got by another account, even with the same file", async () => {
    const stranger = await newClient();
    const path = `/index/trip/video/${video.asset_id}`;
    expect((await stranger.send("GET", path)).status).toBe(404);
    await stranger.json("POST", "/index", { json: { index_name: "trip" } });
    const form = { video_file: await fixture("clip.mp4") };
    const copy = await stranger.json("POST", "/index/trip/video", { form });
    const copied = await verifyMediaToken(secrets(), tokenOf(copy.media_url));
    expect(copied!.key).not.toBe(await objectKey());
  });

  it("returns 404 once its asset is deleted", async () => {
    const owner = await newClient();
    await owner.json("POST", "/index", { json: { index_name: "short" } });
    const form = { image_file: await fixture("words.jpg") };
    const { media_url, asset_id } = await owner.json("POST", "/index/short/image", { form });
    expect((await anonymous.send("HEAD", new URL(media_url).pathname)).status).toBe(200);
    await owner.json("DELETE", `/index/short/image/${asset_id}`);
    await waitUntil(async () => {
      const { status } = await anonymous.send("HEAD", new URL(media_url).pathname);
      return status === 404;
    });
  });
});
