import { env } from "cloudflare:workers";
import { SignJWT, UnsecuredJWT } from "jose";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { keySecrets, parseSecrets, signMediaKey } from "../src/keys.ts";
import { Client, fixture, type Json, newClient } from "./client.ts";

const HOUR = 3_600_000;
const bare = new Client("");

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
  const make = async (change: (token: SignJWT) => SignJWT, named?: { kid?: string }) => {
    const [kid, secret] = [...secrets()][0]!;
    const { sub } = await claims();
    const token = new SignJWT().setSubject(sub).setAudience("sightline:media");
    token.setExpirationTime("1h").setProtectedHeader({ alg: "HS256", ...(named ?? { kid }) });
    return change(token).sign(secret);
  };
  const same = (token: SignJWT) => token;

  it("opens one object for an hour", async () => {
    const { sub, exp, aud } = await claims();
    expect(sub).toMatch(new RegExp(`/${video.asset_id}/source$`));
    expect(aud).toBe("sightline:media");
    expect(exp * 1000 - Date.now()).toBeLessThanOrEqual(HOUR);
    expect(exp * 1000 - Date.now()).toBeGreaterThan(HOUR / 2);
    expect((await bare.send("HEAD", `/media/${await make(same)}/x`)).status).toBe(200);
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
    ["is for keys", () => make((token) => token.setAudience("sightline:key"))],
    ["names another secret", () => make(same, { kid: "k9" })],
    ["names no secret", () => make(same, {})],
    [
      "is of another algorithm",
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
      "is signed with another secret of the same name",
      async () => {
        const [kid] = [...secrets()][0]!;
        const other = parseSecrets(`${kid}:${"A".repeat(43)}`);
        return signMediaKey(other, (await claims()).sub, Date.now() + HOUR);
      },
    ],
    ["is a key", () => client.key],
    [
      "opens what isn't there",
      async () => {
        return signMediaKey(secrets(), `${(await claims()).sub}/../x`, Date.now() + HOUR);
      },
    ],
    ["opens nothing", () => signMediaKey(secrets(), "", Date.now() + HOUR)],
    ["is none", () => "x"],
  ])("that %s leads nowhere, and says no more", async (_, token) => {
    for (const method of ["GET", "HEAD"]) {
      const response = await bare.send(method, `/media/${await token()}/x.mp4`);
      expect(response.status).toBe(404);
      expect(response.headers.get("cache-control")).toBe("private, no-store");
      if (method === "HEAD") continue;
      expect(await response.json()).toEqual({
        detail: "The media URL has expired or leads nowhere; ask the API anew.",
      });
    }
  });

  it("is no key", async () => {
    const response = await new Client(tokenOf(video.media_url)).send("GET", "/index");
    expect(response.status).toBe(401);
  });

  it("of an account is not had by another", async () => {
    const stranger = await newClient();
    const path = `/index/trip/video/${video.asset_id}`;
    expect((await stranger.send("GET", path)).status).toBe(404);
    await stranger.json("POST", "/index", { json: { index_name: "trip" } });
    const form = { video_file: await fixture("clip.mp4") };
    const own = await stranger.json("POST", "/index/trip/video", { form });
    expect(JSON.parse(atob(tokenOf(own.media_url).split(".")[1]!)).sub).not.toBe(
      (await claims()).sub,
    );
  });

  it("ends with what it opens", async () => {
    const own = await newClient();
    await own.json("POST", "/index", { json: { index_name: "short" } });
    const form = { image_file: await fixture("words.jpg") };
    const { media_url, asset_id } = await own.json("POST", "/index/short/image", { form });
    expect((await bare.send("HEAD", new URL(media_url).pathname)).status).toBe(200);
    await own.json("DELETE", `/index/short/image/${asset_id}`);
    await vi.waitUntil(async () => {
      const { status } = await bare.send("HEAD", new URL(media_url).pathname);
      return status === 404;
    }, 30_000);
  });
});
