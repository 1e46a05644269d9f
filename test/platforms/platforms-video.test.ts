import { env } from "cloudflare:workers";
import { describe, expect, inject, it } from "vitest";
import type { ImportRequest } from "../../src/platforms/platform.ts";
import { platformByName } from "../../src/platforms/registry.ts";
import {
  listAllItems,
  listPage,
  requestsTo,
  channelRequest,
  errorOf,
  firstItem,
  sceneItems,
  resolveMedia,
  stubPlatform,
  resolveListing,
} from "../support/platform-stubs.ts";

const platformsOrigin = inject("platformsOrigin");
const filesOrigin = inject("filesOrigin");
const PLAYLIST = "11111111-2222-4333-8444-555555555555";

describe("PeerTube", () => {
  it("lists playlists, accounts, searches and single videos", async () => {
    await stubPlatform(PLAYLIST, { items: sceneItems(2) });
    const playlist = await resolveListing({
      kind: "playlist",
      url: `${platformsOrigin}/w/p/${PLAYLIST}`,
    });
    expect(await listAllItems(playlist)).toHaveLength(2);
    expect(
      await listAllItems(await resolveListing({ kind: "playlist", playlistId: PLAYLIST })),
    ).toHaveLength(2);
    expect(
      await listAllItems(
        await resolveListing({ kind: "playlist", url: `${platformsOrigin}/a/${PLAYLIST}/videos` }),
      ),
    ).toHaveLength(2);
    const search = await resolveListing({ kind: "search", query: PLAYLIST });
    const [found] = await listAllItems(search);
    const video = await firstItem({ kind: "url", url: found!.pageUrl });
    expect(video).toEqual({
      ...found,
      description: "All about i0.",
      tags: ["made up"],
      licence: "Attribution",
      language: "en",
    });
    expect(video.platformId).toBe(`${new URL(platformsOrigin).host}/${String(found!.handle.id)}`);
  });

  it("returns the URLs of captions", async () => {
    await stubPlatform("captioned", { items: sceneItems(1, { captions: "words.vtt" }) });
    const { captions } = await resolveMedia(
      "peertube",
      await firstItem(channelRequest("captioned")),
    );
    expect(captions).toEqual([{ url: `${filesOrigin}/words.vtt`, language: "en" }]);
  });

  it("ignores captions after a permanent error, and throws a transient one", async () => {
    for (const [status, code] of [
      [403, null],
      [500, "upstream_unavailable"],
    ] as const) {
      await stubPlatform("captionless", {
        items: sceneItems(1),
        faults: [{ path: "captions", status }],
      });
      const error = errorOf(
        resolveMedia("peertube", await firstItem(channelRequest("captionless"))),
      );
      expect((await error)?.code ?? null).toBe(code);
    }
  });

  it.each([
    [{ isLive: true }, "live"],
    [{ privacy: { id: 5, label: "Password" } }, "not public"],
    [{ state: { id: 2, label: "To transcode" } }, "published yet"],
    [{ state: { id: 4, label: "Waiting" } }, "published yet"],
    [{ state: { id: 12, label: "Import failed" } }, "never published"],
  ])("lists unavailable videos with the reason: %j", async (overrides, reason) => {
    await stubPlatform("refused", { items: sceneItems(1, { overrides }) });
    const item = await firstItem(channelRequest("refused"));
    expect(item).toMatchObject({ unavailable: { code: "media_not_available" } });
    expect(item.unavailable!.message).toContain(reason);
    const error = await errorOf(resolveMedia("peertube", { ...item, unavailable: null }));
    expect(error).toMatchObject({ code: "media_not_available" });
  });

  it("lists elements of a playlist without a video as unavailable, with the reason", async () => {
    const missing = [1, 2, 3, 0].map((type) => {
      return { id: `e${type}`, file: "clip.mp4", element: { type, video: null } };
    });
    await stubPlatform(PLAYLIST, { items: [...sceneItems(1), ...missing] });
    const url = `${platformsOrigin}/w/p/${PLAYLIST}`;
    const page = await listPage(await resolveListing({ kind: "playlist", url }));
    expect(page).toMatchObject({ broken: [] });
    expect(page.items.map(({ unavailable }) => unavailable?.message ?? null)).toEqual([
      null,
      "It was deleted.",
      "It is private.",
      expect.stringContaining("not published"),
      expect.stringContaining("not published"),
    ]);
    expect(new Set(page.items.map(({ platformId }) => platformId)).size).toBe(5);
  });

  it("requests the sound of a video that has nothing else", async () => {
    const sound = { id: 1, resolution: { id: 0 }, hasAudio: true, hasVideo: false };
    const fileUrl = "https://tube.example/sound.m4a";
    const overrides = { files: [{ ...sound, fileUrl }], streamingPlaylists: [] };
    await stubPlatform("sound", { items: sceneItems(1, { overrides }) });
    const item = await firstItem(channelRequest("sound"));
    expect((await resolveMedia("peertube", item)).url).toBe(fileUrl);
    const pictures = { id: 2, resolution: { id: 720 } };
    const files = [pictures, { ...sound, fileUrl }];
    await stubPlatform("sound", { items: sceneItems(1, { overrides: { ...overrides, files } }) });
    expect(await errorOf(resolveMedia("peertube", item))).toMatchObject({
      code: "media_not_available",
    });
  });

  it("throws media_not_available if downloads are disabled or need a login", async () => {
    await stubPlatform("undownloadable", {
      items: sceneItems(1, { overrides: { downloadEnabled: false } }),
    });
    const item = await firstItem(channelRequest("undownloadable"));
    expect(await errorOf(resolveMedia("peertube", item))).toMatchObject({
      code: "media_not_available",
    });
    await stubPlatform("undownloadable", {
      items: sceneItems(1),
      faults: [{ path: "/videos/", status: 401 }],
    });
    expect(await errorOf(resolveMedia("peertube", item))).toMatchObject({
      code: "media_not_available",
    });
  });

  it("requests a muxed file if audio and video are separate", async () => {
    const file = (id: number, height: number, hasAudio: boolean) => ({
      id,
      resolution: { id: height },
      fileUrl: `https://tube.example/${id}.mp4`,
      hasAudio,
      hasVideo: height > 0,
    });
    const playlists = [{ files: [file(1, 720, false), file(2, 1080, false), file(3, 0, true)] }];
    const overrides = { files: [], streamingPlaylists: playlists };
    await stubPlatform("apart", { items: sceneItems(1, { overrides }) });
    const item = await firstItem(channelRequest("apart"));
    const muxedPath = `download/videos/generate/${String(item.handle.id)}`;
    expect((await resolveMedia("peertube", item)).url).toBe(
      `${platformsOrigin}/${muxedPath}?videoFileIds=2&videoFileIds=3`,
    );
    await stubPlatform("apart", {
      items: sceneItems(1, { overrides: { ...overrides, streamingPlaylists: [] } }),
    });
    expect(await errorOf(resolveMedia("peertube", item))).toMatchObject({
      code: "media_not_available",
    });
  });
});

describe("YouTube", () => {
  const playlist = (scene: string): ImportRequest => ({
    kind: "playlist",
    playlistId: `PL${scene.padEnd(16, "_")}`,
  });

  it("lists playlists, searches and single videos", async () => {
    await stubPlatform("tube", { items: sceneItems(3) });
    expect(await listAllItems(await resolveListing(playlist("tube")))).toHaveLength(3);
    const search = await resolveListing({ kind: "search", query: "tube" }, "youtube");
    const [found] = await listAllItems(search);
    expect(found!.licence).toContain("creativecommons.org");
    const short = { kind: "url", url: `https://youtu.be/${found!.platformId}?t=3` } as const;
    expect(await firstItem(short)).toEqual(found);
  });

  it("sends its key in a header, and not to other origins", async () => {
    const location = `${inject("pixelfedOrigin")}/c/elsewhere`;
    await stubPlatform("elsewhere", { items: [] });
    await stubPlatform("secret", {
      items: sceneItems(1),
      faults: [{ path: "playlists", status: 302, headers: { location } }],
    });
    await errorOf(resolveListing(playlist("secret")));
    const [request] = await requestsTo("secret");
    expect(request!.headers["x-goog-api-key"]).toBe("youtube-key");
    expect(request!.path).not.toContain("youtube-key");
    await stubPlatform("secret", { items: [], faults: [redirected("elsewhere_too")] });
    await stubPlatform("elsewhere_too", { items: [] });
    await errorOf(resolveListing(playlist("secret")));
    const [otherRequest] = await requestsTo("elsewhere_too");
    expect(otherRequest!.headers["x-goog-api-key"]).toBeUndefined();
  });

  function redirected(scene: string) {
    const location = `${inject("pixelfedOrigin")}/api/v1/accounts/lookup?acct=${scene}`;
    return { path: "playlists", status: 307, headers: { location } };
  }

  it.each([
    ["quotaExceeded", "platform_quota_exceeded"],
    ["rateLimitExceeded", "rate_limited"],
    ["keyInvalid", "platform_not_configured"],
    ["playlistItemsNotAccessible", "media_not_available"],
  ])("maps the error %s to %s", async (reason, code) => {
    const body = JSON.stringify({ error: { code: 403, errors: [{ reason }] } });
    await stubPlatform("quota", {
      items: sceneItems(1),
      faults: [{ path: "", status: 403, body }],
    });
    expect(await errorOf(resolveListing(playlist("quota")))).toMatchObject({ code });
  });

  it("lists unavailable videos with the reason", async () => {
    await stubPlatform("mixed", { items: sceneItems(1, { removed: true }) });
    const [deleted] = await listAllItems(await resolveListing(playlist("mixed")));
    expect(deleted).toMatchObject({
      title: "Deleted video",
      unavailable: { code: "media_not_available" },
    });
  });

  it.each([
    [{ snippet: { title: "On air", liveBroadcastContent: "live" } }, "live"],
    [{ snippet: { title: "Soon", liveBroadcastContent: "upcoming" } }, "begun"],
    [{ status: { privacyStatus: "private" } }, "private"],
    [{ status: { uploadStatus: "uploaded" } }, "published yet"],
    [{ status: { uploadStatus: "rejected" } }, "rejected"],
  ])("says why a video isn't available: %j", async (overrides, reason) => {
    await stubPlatform("later", { items: sceneItems(1, { overrides }) });
    const item = await firstItem(playlist("later"));
    expect(item.unavailable!.message).toContain(reason);
  });

  it("lists a tab of a channel by its own playlist", async () => {
    await stubPlatform("tabs", { items: sceneItems(3) });
    const list = async (tab: string) => {
      const url = `https://www.youtube.com/@tabs${tab}`;
      return (await resolveListing({ kind: "playlist", url })).ref;
    };
    const uploads = { kind: "playlist", id: "UUtabs____________" };
    expect(await list("")).toEqual(uploads);
    expect(await list("/videos")).toEqual(uploads);
    expect(await list("/shorts")).toEqual({ ...uploads, id: "UUSHtabs____________" });
    expect(await list("/streams?view=0")).toEqual({ ...uploads, id: "UULVtabs____________" });
  });

  it("lists videos as unavailable while no resolver is set", async () => {
    await stubPlatform("bare", { items: sceneItems(1) });
    const listing = await resolveListing(playlist("bare"));
    const platform = platformByName("youtube");
    const envWithoutResolver = { ...env, COBALT_URL: "" };
    const page = await platform.list(envWithoutResolver, listing, null);
    expect(page.items[0]!.unavailable).toMatchObject({ code: "media_not_available" });
    expect(await errorOf(platform.media(envWithoutResolver, page.items[0]!))).toMatchObject({
      code: "media_not_available",
    });
    const withResolver = await platform.list(env, listing, null);
    expect(withResolver).toMatchObject({ items: [{ unavailable: null }] });
  });

  it.each([
    ["error.api.auth.key.invalid", "platform_not_configured"],
    ["error.api.rate_exceeded", "rate_limited"],
    ["error.api.fetch.fail", "upstream_failed"],
    ["error.api.content.video.age", "media_not_available"],
  ])("maps the resolver's error %s to %s", async (code, expected) => {
    const body = JSON.stringify({ status: "error", error: { code } });
    await stubPlatform("resolver", {
      items: sceneItems(1),
      faults: [{ path: "cobalt", status: 400, body }],
    });
    const item = await firstItem(playlist("resolver"));
    expect(await errorOf(resolveMedia("youtube", item))).toMatchObject({ code: expected });
    const request = (await requestsTo("resolver")).find(({ path }) => path === "/cobalt/")!;
    expect(request.headers.authorization).toBe("Api-Key cobalt-key");
    expect(JSON.parse(request.body)).toMatchObject({ url: item.pageUrl });
  });
});
