import { describe, expect, inject, it } from "vitest";
import type { ImportRequest } from "../../src/platforms/platform.ts";
import {
  listAllItems,
  requestsTo,
  errorOf,
  firstItem,
  sceneItems,
  resolveMedia,
  stubPlatform,
  resolveListing,
} from "../support/platform-stubs.ts";

const platformsOrigin = inject("platformsOrigin");
const filesOrigin = inject("filesOrigin");

describe("Mastodon", () => {
  const profile = (scene: string): ImportRequest => ({
    kind: "profile",
    url: `${platformsOrigin}/@${scene}`,
  });

  it("lists an item for each attachment of a post, with its alternative text", async () => {
    const item = {
      id: "a",
      file: "boats.jpg",
      moreFiles: ["clock.jpg"],
      altText: "Boats in a bay",
    };
    await stubPlatform("several", { items: [item] });
    const items = await listAllItems(await resolveListing(profile("several")));
    expect(items).toHaveLength(2);
    expect(items[0]).toMatchObject({
      assetType: "image",
      altText: "Boats in a bay",
      description: "Post a\nTea & cake\nat Noon",
      tags: ["madeup"],
      language: "en",
    });
    expect((await resolveMedia("mastodon", items[1]!)).url).toBe(`${filesOrigin}/clock.jpg`);
  });

  it("lists sound as a video, and what the server doesn't have as unavailable", async () => {
    const url = `${filesOrigin}/speech.mp3`;
    const media_attachments = [
      { id: "1", type: "audio", url },
      { id: "2", type: "unknown", url: null, remote_url: "https://far.example/x" },
      { id: "3", type: "hologram", url },
      { id: "4", type: "video", url: null },
    ];
    await stubPlatform("mixed_post", {
      items: sceneItems(1, { overrides: { media_attachments } }),
    });
    const items = await listAllItems(await resolveListing(profile("mixed_post")));
    expect(items.map(({ assetType }) => assetType)).toEqual(["video", "image", "image", "video"]);
    expect(items.map(({ unavailable }) => unavailable?.message ?? null)).toEqual([
      null,
      expect.stringContaining("doesn't have this file"),
      expect.stringContaining("doesn't have this file"),
      expect.stringContaining("still processing"),
    ]);
    expect((await resolveMedia("mastodon", items[0]!)).url).toBe(url);
  });

  it("keeps the warning of a post before its text", async () => {
    const overrides = { spoiler_text: "Spoiler: the ending", content: "<p>He wins.</p>" };
    await stubPlatform("spoiled", { items: sceneItems(1, { overrides }) });
    expect(await firstItem(profile("spoiled"))).toMatchObject({
      title: "Spoiler: the ending",
      description: "Spoiler: the ending\nHe wins.",
    });
  });

  it("resolves handles, also of an account on another host", async () => {
    await stubPlatform("handled", { items: sceneItems(2, { isVideo: true }) });
    const host = new URL(platformsOrigin).host;
    for (const username of [`@handled@${host}`, `handled@${host}`]) {
      expect(await resolveListing({ kind: "profile", username })).toMatchObject({
        platform: "mastodon",
      });
    }
    await stubPlatform("moved-handled", {
      items: [],
      faults: [{ path: "acct=moved-handled", status: 404, times: 1 }],
    });
    const moved = { kind: "profile", username: `moved-handled@${host}` } as const;
    const listing = await resolveListing(moved);
    expect(listing.ref.origin).toContain("localhost");
  });

  it("recognises Pixelfed by its version, and lists public posts only", async () => {
    const url = `${inject("pixelfedOrigin")}/@pixels`;
    await stubPlatform("pixels", {
      items: [
        ...sceneItems(1, { file: "boats.jpg" }),
        { id: "p", file: "x", overrides: { visibility: "private" } },
      ],
    });
    const listing = await resolveListing({ kind: "profile", url });
    expect(listing.platform).toBe("pixelfed");
    expect(await listAllItems(listing)).toHaveLength(1);
  });

  it("ends the list of a server that ignores max_id", async () => {
    const server = inject("pixelfedOrigin");
    await stubPlatform("stuck", { items: sceneItems(30) });
    const path = "/api/pixelfed/v1/accounts/stuck/statuses?limit=24";
    const body = await (await fetch(server + path)).text();
    const faults = [{ path: "max_id", status: 200, body }];
    await stubPlatform("stuck", { items: sceneItems(30), faults });
    const items = await listAllItems(
      await resolveListing({ kind: "profile", url: `${server}/stuck` }),
    );
    expect(new Set(items.map(({ platformId }) => platformId)).size).toBe(24);
  });

  it("throws media_not_available if a server requires a login", async () => {
    await stubPlatform("closed", { items: [], faults: [{ path: "", status: 401 }] });
    expect(await errorOf(resolveListing(profile("closed")))).toMatchObject({
      code: "media_not_available",
    });
  });
});

describe("Instagram", () => {
  it("resolves the URL of a profile", async () => {
    await stubPlatform("member", { items: sceneItems(1, { file: "boats.jpg" }) });
    const instagram = { kind: "profile", url: "https://www.instagram.com/member/" } as const;
    expect(await firstItem(instagram)).toMatchObject({ assetType: "image", tags: ["madeup"] });
  });

  it("lists an item for each part of a carousel, and marks unavailable ones", async () => {
    await stubPlatform("carousel", {
      items: [
        { id: "a", file: "boats.jpg", moreFiles: ["clock.jpg"] },
        { id: "b", file: "boats.jpg", overrides: { media_url: undefined, media_type: "VIDEO" } },
        { id: "c", file: "boats.jpg", overrides: { media_url: null } },
      ],
    });
    const items = await listAllItems(
      await resolveListing({ kind: "profile", username: "@carousel" }),
    );
    expect(items.map(({ unavailable }) => unavailable?.code)).toEqual([
      undefined,
      undefined,
      undefined,
      "media_not_available",
    ]);
    const [request] = await requestsTo("carousel");
    expect(request!.path).not.toContain("instagram-token");
    expect(request!.headers.authorization).toBe("Bearer instagram-token");
  });

  it.each([
    [4, "rate_limited"],
    [190, "platform_not_configured"],
    [2, "upstream_unavailable"],
    [999, "upstream_failed"],
  ])("maps Instagram's error %i to a code: %s", async (code, expected) => {
    const body = JSON.stringify({ error: { code, message: "no" } });
    await stubPlatform("graph", { items: [], faults: [{ path: "", status: 400, body }] });
    const listing = resolveListing({ kind: "profile", username: "graph" });
    expect(await errorOf(listing)).toMatchObject({ code: expected });
  });
});
