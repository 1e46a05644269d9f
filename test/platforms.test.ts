import { env } from "cloudflare:workers";
import { describe, expect, inject, it } from "vitest";
import type { ListingPage, Wanted } from "../src/platforms/platform.ts";
import { platformByName, platformFor } from "../src/platforms/platforms.ts";
import type { JsonObject } from "../src/types.ts";
import {
  all,
  channel,
  failure,
  first,
  listed,
  many,
  mediaOf,
  putScene,
  resolved,
} from "./scenes.ts";

const here = inject("platformsOrigin");
const files = inject("filesOrigin");

const ALL: [string, (scene: string) => Wanted, string | undefined, number][] = [
  ["peertube", channel, undefined, 120],
  [
    "youtube",
    (scene) => ({ kind: "playlist", url: `https://youtube.com/@${scene}` }),
    undefined,
    120,
  ],
  ["mastodon", (scene) => ({ kind: "profile", url: `${here}/@${scene}` }), undefined, 90],
  [
    "pixelfed",
    (scene) => ({ kind: "profile", url: `${inject("pixelfedOrigin")}/${scene}` }),
    undefined,
    60,
  ],
  ["flickr", (username) => ({ kind: "profile", username }), "flickr", 230],
  ["instagram", (username) => ({ kind: "profile", username }), undefined, 60],
];

describe.each(ALL)("%s", (name, wantedOf, named, count) => {
  it("lists all pages in order, each item once, and leaves broken ones out", async () => {
    const scene = `paged_${name}`;
    const items = many(count);
    items[7]!.broken = true;
    await putScene(scene, { items });
    const listing = await resolved(wantedOf(scene), named);
    expect(listing).toMatchObject({ platform: name, title: `The ${scene}` });
    const got = await all(JSON.parse(JSON.stringify(listing)));
    expect(got).toHaveLength(count - 1);
    expect(new Set(got.map(({ platformId }) => platformId)).size).toBe(count - 1);
    expect(got[0]!.title).toContain("i0");
    expect(got.at(-1)!.title).toContain(`i${count - 1}`);
  });

  it("tells what it knows of an item, and where its file is", async () => {
    const scene = `told_${name}`;
    const isVideo = named !== "flickr" || undefined;
    const item = { id: "a", file: "clip.mp4", title: "Lighthouse", alt: "A tower", isVideo };
    await putScene(scene, { items: [{ ...item, isVideo: isVideo ?? false }] });
    const got = await first(wantedOf(scene), named);
    expect(got).toMatchObject({ title: "Lighthouse", refused: null });
    expect(got.publishedAt).toMatch(/^2026-05-04T10:20:30/);
    expect(got.author).toContain(scene);
    expect(got.pageUrl).toMatch(/^https?:/);
    expect(JSON.parse(JSON.stringify(got))).toEqual(got);
    const { url } = await mediaOf(name, got);
    expect(url).toBe(`${files}/clip.mp4`);
  });

  it("says how long to wait when asked too often", async () => {
    const scene = `often_${name}`;
    const faults = [{ path: "", status: 429, headers: { "retry-after": "17" } }];
    await putScene(scene, { items: many(1), faults });
    expect(await failure(resolved(wantedOf(scene), named))).toMatchObject({
      code: "rate_limited",
      retryAfter: 17,
    });
  });

  it("does not know who is not there", async () => {
    const wanted = wantedOf("nobody");
    expect(await failure(resolved(wanted, named))).toMatchObject({ code: "not_found" });
  });

  it("goes on for ever where a list has no end, a page at a time", async () => {
    const scene = `endless_${name}`;
    await putScene(scene, { items: many(1), endless: true });
    const listing = await resolved(wantedOf(scene), named);
    const seen = new Set<string>();
    let at: JsonObject | null = null;
    for (let pages = 0; pages < 3; pages++) {
      const page: ListingPage = await listed(listing, at);
      for (const { platformId } of page.items) seen.add(platformId);
      at = page.next;
      expect(at).not.toBeNull();
    }
    expect(seen.size).toBeGreaterThan(60);
  });

  it.each([
    ["half a JSON", { status: 200, body: '{"total": 3, "data": [{"uu' }, "upstream_failed"],
    ["another shape", { status: 200, body: "[1]" }, "upstream_failed"],
    ["no JSON", { status: 200, body: "<html>" }, "upstream_failed"],
    ["five megabytes", { status: 200, bytes: 5_000_000 }, "upstream_failed"],
    ["503", { status: 503, body: "" }, "upstream_unavailable"],
    ["a private address", redirect("http://192.168.0.1/"), "blocked_address"],
    ["a private address by a detour", redirect("/private"), "blocked_address"],
    ["itself, in a circle", redirect("/round"), "download_refused"],
  ])("fails with a code when it answers with, or leads to, %s", async (_, fault, code) => {
    const scene = `broken_${name}`;
    await putScene(scene, { items: many(1), faults: [{ path: "", ...fault }] });
    expect(await failure(resolved(wantedOf(scene), named))).toMatchObject({ code });
  });
});

function redirect(location: string) {
  return { status: 302, headers: { location }, body: "" };
}

describe("what is gone", () => {
  it.each(ALL.filter(([name]) => name !== "instagram"))(
    "is said to be, by %s",
    async (name, wantedOf, named) => {
      const scene = `gone_${name}`;
      await putScene(scene, { items: many(1) });
      const item = await first(wantedOf(scene), named);
      await putScene(scene, { items: many(1, { removed: true }) });
      expect(await failure(mediaOf(name, item))).toMatchObject({ code: "original_removed" });
    },
  );
});

describe("a list that has not changed", () => {
  it.each(ALL.filter(([name]) => !["flickr", "instagram"].includes(name)))(
    "is not sent again by %s",
    async (name, wantedOf) => {
      const scene = `same_${name}`;
      const etag = '"one"';
      await putScene(scene, { items: many(2), etag });
      const listing = await resolved(wantedOf(scene));
      const { validators } = await listed(listing);
      expect(validators).toMatchObject({ etag });
      expect(await listed(listing, null, validators)).toMatchObject({ unchanged: true, items: [] });
      await putScene(scene, { items: many(3), etag: '"two"' });
      const changed = await listed(listing, null, validators);
      expect(changed).toMatchObject({ unchanged: false, validators: { etag: '"two"' } });
      expect(changed.items).toHaveLength(3);
    },
  );
});

describe("Retry-After", () => {
  it("may be a date, or Mastodon's own header", async () => {
    const soon = new Date(Date.now() + 90_000);
    for (const headers of [
      { "retry-after": soon.toUTCString() },
      { "x-ratelimit-reset": soon.toISOString() },
    ]) {
      await putScene("dated", { items: [], faults: [{ path: "", status: 429, headers }] });
      const { retryAfter } = (await failure(resolved(channel("dated"))))!;
      expect(retryAfter).toBeGreaterThan(60);
      expect(retryAfter).toBeLessThanOrEqual(90);
    }
  });
});

describe("credentials that are not set", () => {
  it.each([
    ["youtube", "YOUTUBE_API_KEY", { kind: "search", query: "boats" }],
    ["peertube", "PEERTUBE_URL", { kind: "search", query: "boats" }],
    ["flickr", "FLICKR_API_KEY", { kind: "profile", username: "boats" }],
    ["instagram", "INSTAGRAM_TOKEN", { kind: "profile", username: "boats" }],
    ["instagram", "INSTAGRAM_USER_ID", { kind: "profile", username: "boats" }],
  ] as const)("of %s are named: %s", async (name, setting, wanted) => {
    const platform = platformByName(name);
    const found = await failure(platform.resolve({ ...env, [setting]: "" }, wanted));
    expect(found).toMatchObject({ code: "platform_not_configured" });
    expect(found!.message).toContain(setting);
    const choose = () => platformFor({ ...env, [setting]: "" }, wanted, name);
    expect(choose).toThrow(setting);
  });
});
