import { env } from "cloudflare:workers";
import { SignJWT, UnsecuredJWT } from "jose";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { keySecrets, parseSecrets, signMediaKey } from "../src/keys.ts";
import { Client, fixture, type Json, newClient } from "./client.ts";

const HOUR_MS = 3_600_000;
const anonymous = new Client("");

let client: Client;
let video: Json;

beforeAll(async () => {
  client = await newClient();
  await client.json("POST", "/index", { json: { index_name: "trip" } });
  const form = { video_file: await fixture("clip.mp4") };
  video = await client.json("POST", "/index/trip/video", { form });
});

describe("a media token", () => {
  const secrets = () => keySecrets(env);
  const tokenOf = (url: string) => new URL(url).pathname.split("/")[2]!;
  const claims = async () => JSON.parse(atob(tokenOf(video.media_url).split(".")[1]!));
  const make = async (change: (token: SignJWT) => SignJWT, header?: { kid?: string }) => {
    const [kid, secret] = [...secrets()][0]!;
    const { sub } = await claims();
    const token = new SignJWT().setSubject(sub).setAudience("sightline:media");
    token.setExpirationTime("1h").setProtectedHeader({ alg: "HS256", ...(header ?? { kid }) });
    return change(token).sign(secret);
  };
  const unchanged = (token: SignJWT) => token;

  it("gives access to one object for an hour", async () => {
    const { sub, exp, aud } = await claims();
    expect(sub).toMatch(new RegExp(`/${video.asset_id}/source$`));
    expect(aud).toBe("sightline:media");
    expect(exp * 1000 - Date.now()).toBeLessThanOrEqual(HOUR_MS);
    expect(exp * 1000 - Date.now()).toBeGreaterThan(HOUR_MS / 2);
    expect((await anonymous.send("HEAD", `/media/${await make(unchanged)}/x`)).status).toBe(200);
  });

  it("is the same within a minute, so that a browser finds what it has cached", async () => {
    const urls: string[] = [];
    for (let i = 0; i < 3; i++) {
      const record = await client.json("GET", `/index/trip/video/${video.asset_id}`);
      urls.push(record.media_url);
    }
    expect(new Set(urls).size).toBeLessThan(3); // a minute may end between two of them
  });

  it.each<[string, () => Promise<string> | string]>([
    ["is changed", () => tokenOf(video.media_url).replace(/\.[\w-]{5}/, ".AAAAA")],
    ["lacks its signature", () => tokenOf(video.media_url).replace(/[^.]*$/, "")],
    [
      "has another's signature",
      async () => {
        const [head, body] = tokenOf(video.media_url).split(".");
        return `${head}.${body}.${(await make((token) => token.setIssuedAt())).split(".")[2]}`;
      },
    ],
    ["has expired", () => make((token) => token.setExpirationTime("-1s"))],
    ["isn't valid yet", () => make((token) => token.setNotBefore("1h"))],
    ["has the audience of API keys", () => make((token) => token.setAudience("sightline:key"))],
    ["has another kid", () => make(unchanged, { kid: "k9" })],
    ["has no kid", () => make(unchanged, {})],
    [
      "has another algorithm",
      async () => {
        const [kid] = [...secrets()][0]!;
        const { sub } = await claims();
        const token = new SignJWT().setSubject(sub).setAudience("sightline:media");
        const secret = new Uint8Array(64);
        return token.setExpirationTime("1h").setProtectedHeader({ alg: "HS512", kid }).sign(secret);
      },
    ],
    [
      "isn't signed",
      async () => {
        const { sub } = await claims();
        return new UnsecuredJWT().setSubject(sub).setAudience("sightline:media").encode();
      },
    ],
    [
      "is signed by another secret with the same kid",
      async () => {
        const [kid] = [...secrets()][0]!;
        const other = parseSecrets(`${kid}:${"A".repeat(43)}`);
        return signMediaKey(other, (await claims()).sub, Date.now() + HOUR_MS);
      },
    ],
    ["is an API key", () => client.key],
    [
      "is for an object that doesn't exist",
      async () => {
        return signMediaKey(secrets(), `${(await claims()).sub}/../x`, Date.now() + HOUR_MS);
      },
    ],
    ["has an empty object key", () => signMediaKey(secrets(), "", Date.now() + HOUR_MS)],
    ["isn't a JWT", () => "x"],
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
    expect(JSON.parse(atob(tokenOf(copy.media_url).split(".")[1]!)).sub).not.toBe(
      (await claims()).sub,
    );
  });

  it("returns 404 once its asset is deleted", async () => {
    const owner = await newClient();
    await owner.json("POST", "/index", { json: { index_name: "short" } });
    const form = { image_file: await fixture("words.jpg") };
    const { media_url, asset_id } = await owner.json("POST", "/index/short/image", { form });
    expect((await anonymous.send("HEAD", new URL(media_url).pathname)).status).toBe(200);
    await owner.json("DELETE", `/index/short/image/${asset_id}`);
    await vi.waitUntil(async () => {
      const { status } = await anonymous.send("HEAD", new URL(media_url).pathname);
      return status === 404;
    }, 30_000);
  });
});
