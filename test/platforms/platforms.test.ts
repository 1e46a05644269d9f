import { env } from "cloudflare:workers";
import { describe, expect, inject, it } from "vitest";
import type { ListingPage, ImportRequest } from "../../src/platforms/platform.ts";
import { platformByName, platformFor, resolveRequest } from "../../src/platforms/registry.ts";
import type { JsonObject } from "../../src/types.ts";
import {
  listAllItems,
  channelRequest,
  errorOf,
  firstItem,
  listPage,
  sceneItems,
  resolveMedia,
  stubPlatform,
  resolveListing,
} from "../support/platform-stubs.ts";

const platformsOrigin = inject("platformsOrigin");
const filesOrigin = inject("filesOrigin");

const CASES: [string, (scene: string) => ImportRequest, string | undefined, number][] = [
  ["peertube", channelRequest, undefined, 120],
  [
    "youtube",
    (scene) => ({ kind: "playlist", url: `https://youtube.com/@${scene}` }),
    undefined,
    120,
  ],
  [
    "mastodon",
    (scene) => ({ kind: "profile", url: `${platformsOrigin}/@${scene}` }),
    undefined,
    90,
  ],
  [
    "pixelfed",
    (scene) => ({ kind: "profile", url: `${inject("pixelfedOrigin")}/${scene}` }),
    undefined,
    60,
  ],
  ["instagram", (username) => ({ kind: "profile", username }), undefined, 60],
];

describe.each(CASES)("%s", (name, requestFor, platformName, count) => {
  it("lists the items of all pages once and in order, and leaves malformed ones out", async () => {
    const scene = `paged_${name}`;
    const items = sceneItems(count);
    items[7]!.malformed = true;
    await stubPlatform(scene, { items });
    const listing = await resolveListing(requestFor(scene), platformName);
    expect(listing).toMatchObject({ platform: name, title: `The ${scene}` });
    const listed = await listAllItems(JSON.parse(JSON.stringify(listing)));
    expect(listed).toHaveLength(count - 1);
    expect(new Set(listed.map(({ platformId }) => platformId)).size).toBe(count - 1);
    expect(listed[0]!.title).toContain("i0");
    expect(listed.at(-1)!.title).toContain(`i${count - 1}`);
  });

  it("returns the metadata of an item, and the URL of its file", async () => {
    const scene = `metadata_${name}`;
    const item = {
      id: "a",
      file: "clip.mp4",
      title: "Lighthouse",
      altText: "A tower",
      isVideo: true,
    };
    await stubPlatform(scene, { items: [item] });
    const listed = await firstItem(requestFor(scene), platformName);
    expect(listed).toMatchObject({ title: "Lighthouse", unavailable: null });
    expect(listed.publishedAt).toMatch(/^2026-05-04T10:20:30/);
    expect(listed.author).toContain(scene);
    expect(listed.pageUrl).toMatch(/^https?:/);
    expect(JSON.parse(JSON.stringify(listed))).toEqual(listed);
    const { url } = await resolveMedia(name, listed);
    expect(url).toBe(`${filesOrigin}/clip.mp4`);
  });

  it("returns the time to wait after a 429", async () => {
    const scene = `throttled_${name}`;
    const faults = [{ path: "", status: 429, headers: { "retry-after": "17" } }];
    await stubPlatform(scene, { items: sceneItems(1), faults });
    expect(await errorOf(resolveListing(requestFor(scene), platformName))).toMatchObject({
      code: "rate_limited",
      retryAfter: 17,
    });
  });

  it("throws not_found for an unknown name", async () => {
    const request = requestFor("nobody");
    expect(await errorOf(resolveListing(request, platformName))).toMatchObject({
      code: "not_found",
    });
  });

  it("pages through a list without end", async () => {
    const scene = `endless_${name}`;
    await stubPlatform(scene, { items: sceneItems(1), endless: true });
    const listing = await resolveListing(requestFor(scene), platformName);
    const ids = new Set<string>();
    let cursor: JsonObject | null = null;
    for (let pages = 0; pages < 3; pages++) {
      const page: ListingPage = await listPage(listing, cursor);
      for (const { platformId } of page.items) ids.add(platformId);
      cursor = page.next;
      expect(cursor).not.toBeNull();
    }
    expect(ids.size).toBeGreaterThan(60);
  });

  it.each([
    ["truncated JSON", { status: 200, body: '{"total": 3, "data": [{"uu' }, "upstream_failed"],
    ["JSON of another shape", { status: 200, body: "[1]" }, "upstream_failed"],
    ["HTML", { status: 200, body: "<html>" }, "upstream_failed"],
    ["a body of 5 MB", { status: 200, bytes: 5_000_000 }, "upstream_failed"],
    ["status 503", { status: 503, body: "" }, "upstream_unavailable"],
    ["a redirect to a private address", redirect("http://192.168.0.1/"), "blocked_address"],
    ["two redirects to a private address", redirect("/private"), "blocked_address"],
    ["a redirect loop", redirect("/loop"), "download_refused"],
  ])("throws an error with a code after %s", async (_, fault, code) => {
    const scene = `broken_${name}`;
    await stubPlatform(scene, { items: sceneItems(1), faults: [{ path: "", ...fault }] });
    expect(await errorOf(resolveListing(requestFor(scene), platformName))).toMatchObject({ code });
  });
});

function redirect(location: string) {
  return { status: 302, headers: { location }, body: "" };
}

describe("a deleted item", () => {
  it.each(CASES.filter(([name]) => name !== "instagram"))(
    "throws original_removed on %s",
    async (name, requestFor, platformName) => {
      const scene = `deleted_${name}`;
      await stubPlatform(scene, { items: sceneItems(1) });
      const item = await firstItem(requestFor(scene), platformName);
      await stubPlatform(scene, { items: sceneItems(1, { removed: true }) });
      expect(await errorOf(resolveMedia(name, item))).toMatchObject({ code: "original_removed" });
    },
  );
});

describe("Retry-After", () => {
  it("is read as a date, and from Mastodon's X-RateLimit-Reset", async () => {
    const soon = new Date(Date.now() + 90_000);
    for (const headers of [
      { "retry-after": soon.toUTCString() },
      { "x-ratelimit-reset": soon.toISOString() },
    ]) {
      await stubPlatform("dated", { items: [], faults: [{ path: "", status: 429, headers }] });
      const { retryAfter } = (await errorOf(resolveListing(channelRequest("dated"))))!;
      expect(retryAfter).toBeGreaterThan(60);
      expect(retryAfter).toBeLessThanOrEqual(90);
    }
  });
});

describe("a missing setting", () => {
  it.each([
    ["youtube", "YOUTUBE_API_KEY", { kind: "search", query: "boats" }],
    ["peertube", "PEERTUBE_URL", { kind: "search", query: "boats" }],
    ["instagram", "INSTAGRAM_TOKEN", { kind: "profile", username: "boats" }],
    ["instagram", "INSTAGRAM_USER_ID", { kind: "profile", username: "boats" }],
  ] as const)("of %s is named in the error: %s", async (name, setting, request) => {
    const platform = platformByName(name);
    const settings = { ...env, [setting]: "" };
    const error = await errorOf(resolveRequest(settings, platform, request));
    expect(error).toMatchObject({ code: "platform_not_configured" });
    expect(error!.message).toContain(setting);
    const choose = () => platformFor({ ...env, [setting]: "" }, request, name);
    expect(choose).toThrow(setting);
  });
});
