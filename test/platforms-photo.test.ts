import { describe, expect, inject, it } from "vitest";
import type { Wanted } from "../src/platforms/platform.ts";
import { all, askedOf, failure, first, many, mediaOf, putScene, resolved } from "./scenes.ts";

const here = inject("platformsOrigin");
const files = inject("filesOrigin");

describe("Mastodon", () => {
  const profile = (scene: string): Wanted => ({ kind: "profile", url: `${here}/@${scene}` });

  it("has an item for each picture of a post, with its alternative text", async () => {
    const item = { id: "a", file: "boats.jpg", more: ["clock.jpg"], alt: "Boats in a bay" };
    await putScene("several", { items: [item] });
    const items = await all(await resolved(profile("several")));
    expect(items).toHaveLength(2);
    expect(items[0]).toMatchObject({
      assetType: "image",
      altText: "Boats in a bay",
      description: "Post a\nTea & cake\nat Noon",
      tags: ["madeup"],
      language: "en",
    });
    expect((await mediaOf("mastodon", items[1]!)).url).toBe(`${files}/clock.jpg`);
  });

  it("takes handles, also those whose server is elsewhere", async () => {
    await putScene("handled", { items: many(2, { isVideo: true }) });
    const host = new URL(here).host;
    for (const username of [`@handled@${host}`, `handled@${host}`]) {
      expect(await resolved({ kind: "profile", username })).toMatchObject({ platform: "mastodon" });
    }
    await putScene("moved-handled", {
      items: [],
      faults: [{ path: "acct=moved-handled", status: 404, times: 1 }],
    });
    const moved = { kind: "profile", username: `moved-handled@${host}` } as const;
    const listing = await resolved(moved);
    expect(listing.of.origin).toContain("localhost");
  });

  it("recognises Pixelfed by its version, and never lists what isn't public", async () => {
    const url = `${inject("pixelfedOrigin")}/@pixels`;
    await putScene("pixels", {
      items: [
        ...many(1, { file: "boats.jpg" }),
        { id: "p", file: "x", set: { visibility: "private" } },
      ],
    });
    const listing = await resolved({ kind: "profile", url });
    expect(listing.platform).toBe("pixelfed");
    expect(await all(listing)).toHaveLength(1);
  });

  it("ends where a server doesn't heed max_id", async () => {
    const server = inject("pixelfedOrigin");
    await putScene("stuck", { items: many(30) });
    const path = "/api/pixelfed/v1/accounts/stuck/statuses?limit=24";
    const body = await (await fetch(server + path)).text();
    const faults = [{ path: "max_id", status: 200, body }];
    await putScene("stuck", { items: many(30), faults });
    const items = await all(await resolved({ kind: "profile", url: `${server}/stuck` }));
    expect(new Set(items.map(({ platformId }) => platformId)).size).toBe(24);
  });

  it("says that a server wants a login", async () => {
    await putScene("closed", { items: [], faults: [{ path: "", status: 401 }] });
    expect(await failure(resolved(profile("closed")))).toMatchObject({
      code: "media_not_available",
    });
  });
});

describe("Flickr and Instagram", () => {
  it("take members by their pages", async () => {
    await putScene("member", { items: many(1, { file: "boats.jpg" }) });
    const flickr = { kind: "profile", url: "https://www.flickr.com/photos/member/" } as const;
    expect(await first(flickr)).toMatchObject({
      assetType: "image",
      licence: "https://cc.example/by",
      description: "About i0",
      tags: ["made", "up"],
    });
    const instagram = { kind: "profile", url: "https://www.instagram.com/member/" } as const;
    expect(await first(instagram)).toMatchObject({ assetType: "image", tags: ["madeup"] });
  });

  it("keep a photo that its owner doesn't let be downloaded", async () => {
    await putScene("closed_member", { items: many(1) });
    const item = await first({ kind: "profile", username: "closed_member" }, "flickr");
    await putScene("closed_member", { items: many(1, { set: { candownload: 0 } }) });
    expect(await failure(mediaOf("flickr", item))).toMatchObject({ code: "media_not_available" });
  });

  it("have an item for each part of a carousel, and say which can't be had", async () => {
    await putScene("carousel", {
      items: [
        { id: "a", file: "boats.jpg", more: ["clock.jpg"] },
        { id: "b", file: "boats.jpg", set: { media_url: undefined, media_type: "VIDEO" } },
        { id: "c", file: "boats.jpg", set: { media_url: null } },
      ],
    });
    const items = await all(await resolved({ kind: "profile", username: "@carousel" }));
    expect(items.map(({ refused }) => refused?.code)).toEqual([
      undefined,
      undefined,
      undefined,
      "media_not_available",
    ]);
    const [asked] = await askedOf("carousel");
    expect(asked!.path).not.toContain("instagram-token");
    expect(asked!.headers.authorization).toBe("Bearer instagram-token");
  });

  it.each([
    [4, "rate_limited"],
    [190, "platform_not_configured"],
    [2, "upstream_unavailable"],
    [999, "upstream_failed"],
  ])("say what Instagram's %i means", async (code, expected) => {
    const body = JSON.stringify({ error: { code, message: "no" } });
    await putScene("graph", { items: [], faults: [{ path: "", status: 400, body }] });
    const asked = resolved({ kind: "profile", username: "graph" });
    expect(await failure(asked)).toMatchObject({ code: expected });
  });

  it.each([
    [100, "platform_not_configured"],
    [105, "upstream_unavailable"],
    [2, "media_not_available"],
    [112, "upstream_failed"],
  ])("say what Flickr's %i means", async (code, expected) => {
    const body = JSON.stringify({ stat: "fail", code, message: "no" });
    await putScene("services", { items: [], faults: [{ path: "", status: 200, body }] });
    const asked = resolved({ kind: "profile", username: "services" }, "flickr");
    expect(await failure(asked)).toMatchObject({ code: expected });
  });
});
