import { env } from "cloudflare:workers";
import { describe, expect, inject, it } from "vitest";
import type { Wanted } from "../src/platforms/platform.ts";
import { platformByName } from "../src/platforms/platforms.ts";
import {
  all,
  askedOf,
  channel,
  failure,
  first,
  many,
  mediaOf,
  putScene,
  resolved,
} from "./scenes.ts";

const here = inject("platformsOrigin");
const files = inject("filesOrigin");
const PLAYLIST = "11111111-2222-4333-8444-555555555555";

describe("PeerTube", () => {
  it("finds playlists, accounts, searches and single videos", async () => {
    await putScene(PLAYLIST, { items: many(2) });
    const playlist = await resolved({ kind: "playlist", url: `${here}/w/p/${PLAYLIST}` });
    expect(await all(playlist)).toHaveLength(2);
    expect(await all(await resolved({ kind: "playlist", playlistId: PLAYLIST }))).toHaveLength(2);
    expect(
      await all(await resolved({ kind: "playlist", url: `${here}/a/${PLAYLIST}/videos` })),
    ).toHaveLength(2);
    const search = await resolved({ kind: "search", query: PLAYLIST });
    const [found] = await all(search);
    const video = await first({ kind: "url", url: found!.pageUrl });
    expect(video).toEqual({
      ...found,
      description: "All about i0.",
      tags: ["made up"],
      licence: "Attribution",
      language: "en",
    });
    expect(video.platformId).toBe(`${new URL(here).host}/${String(found!.handle.id)}`);
  });

  it("gives captions", async () => {
    await putScene("captioned", { items: many(1, { captions: "words.vtt" }) });
    const { captions } = await mediaOf("peertube", await first(channel("captioned")));
    expect(captions).toEqual([{ url: `${files}/words.vtt`, language: "en", format: "vtt" }]);
  });

  it("does without captions that are refused, and waits for those that may come", async () => {
    for (const [status, code] of [
      [403, null],
      [500, "upstream_unavailable"],
    ] as const) {
      await putScene("captionless", { items: many(1), faults: [{ path: "captions", status }] });
      const asked = failure(mediaOf("peertube", await first(channel("captionless"))));
      expect((await asked)?.code ?? null).toBe(code);
    }
  });

  it.each([
    [{ isLive: true }, "live"],
    [{ privacy: { id: 5, label: "Password" } }, "not public"],
    [{ state: { id: 4, label: "Waiting" } }, "published"],
  ])("lists what can't be had with the reason: %j", async (set, why) => {
    await putScene("refused", { items: many(1, { set }) });
    const { refused } = await first(channel("refused"));
    expect(refused).toMatchObject({ code: "media_not_available" });
    expect(refused!.message).toContain(why);
  });

  it("respects that a video is not to be downloaded, and a login", async () => {
    await putScene("kept", { items: many(1, { set: { downloadEnabled: false } }) });
    const item = await first(channel("kept"));
    expect(await failure(mediaOf("peertube", item))).toMatchObject({ code: "media_not_available" });
    await putScene("kept", { items: many(1), faults: [{ path: "/videos/", status: 401 }] });
    expect(await failure(mediaOf("peertube", item))).toMatchObject({ code: "media_not_available" });
  });

  it("has sound and picture joined where a server keeps them apart", async () => {
    const file = (id: number, lines: number, hasAudio: boolean) => ({
      id,
      resolution: { id: lines },
      fileUrl: `https://tube.example/${id}.mp4`,
      hasAudio,
      hasVideo: lines > 0,
    });
    const playlists = [{ files: [file(1, 720, false), file(2, 1080, false), file(3, 0, true)] }];
    const set = { files: [], streamingPlaylists: playlists };
    await putScene("apart", { items: many(1, { set }) });
    const item = await first(channel("apart"));
    expect((await mediaOf("peertube", item)).url).toBe(
      `${here}/download/videos/generate/${String(item.handle.id)}?videoFileIds=2&videoFileIds=3`,
    );
    await putScene("apart", { items: many(1, { set: { ...set, streamingPlaylists: [] } }) });
    expect(await failure(mediaOf("peertube", item))).toMatchObject({ code: "media_not_available" });
  });
});

describe("YouTube", () => {
  const playlist = (scene: string): Wanted => ({
    kind: "playlist",
    playlistId: `PL${scene.padEnd(16, "_")}`,
  });

  it("finds playlists, channels, searches and single videos", async () => {
    await putScene("tube", { items: many(3) });
    expect(await all(await resolved(playlist("tube")))).toHaveLength(3);
    const search = await resolved({ kind: "search", query: "tube" }, "youtube");
    const [found] = await all(search);
    expect(found!.licence).toContain("creativecommons.org");
    const short = { kind: "url", url: `https://youtu.be/${found!.platformId}?t=3` } as const;
    expect(await first(short)).toEqual(found);
  });

  it("sends its key in a header, to nobody else", async () => {
    const location = `${inject("pixelfedOrigin")}/c/elsewhere`;
    await putScene("elsewhere", { items: [] });
    await putScene("secret", {
      items: many(1),
      faults: [{ path: "playlists", status: 302, headers: { location } }],
    });
    await failure(resolved(playlist("secret")));
    const [asked] = await askedOf("secret");
    expect(asked!.headers["x-goog-api-key"]).toBe("youtube-key");
    expect(asked!.path).not.toContain("youtube-key");
    await putScene("secret", { items: [], faults: [redirected("elsewhere_too")] });
    await putScene("elsewhere_too", { items: [] });
    await failure(resolved(playlist("secret")));
    const [there] = await askedOf("elsewhere_too");
    expect(there!.headers["x-goog-api-key"]).toBeUndefined();
  });

  function redirected(scene: string) {
    const location = `${inject("pixelfedOrigin")}/api/v1/accounts/lookup?acct=${scene}`;
    return { path: "playlists", status: 307, headers: { location } };
  }

  it.each([
    ["quotaExceeded", "quota_exceeded"],
    ["rateLimitExceeded", "rate_limited"],
    ["keyInvalid", "platform_not_configured"],
    ["playlistItemsNotAccessible", "media_not_available"],
  ])("says what %s means", async (reason, code) => {
    const body = JSON.stringify({ error: { code: 403, errors: [{ reason }] } });
    await putScene("quota", { items: many(1), faults: [{ path: "", status: 403, body }] });
    expect(await failure(resolved(playlist("quota")))).toMatchObject({ code });
  });

  it("lists what can't be had with the reason", async () => {
    const set = { snippet: { title: "On air", liveBroadcastContent: "live" } };
    await putScene("mixed", {
      items: [{ id: "live", file: "clip.mp4", set }, ...many(1, { removed: true })],
    });
    const [live, lost] = await all(await resolved(playlist("mixed")));
    expect(live!.refused!.message).toContain("live");
    expect(lost).toMatchObject({
      title: "Deleted video",
      refused: { code: "media_not_available" },
    });
  });

  it("without a resolver has no media, and has again when there is one", async () => {
    await putScene("bare", { items: many(1), etag: '"same"' });
    const listing = await resolved(playlist("bare"));
    const platform = platformByName("youtube");
    const without = { ...env, COBALT_URL: "" };
    const page = await platform.list(without, listing, null, null);
    expect(page.items[0]!.refused).toMatchObject({ code: "media_not_available" });
    expect(await failure(platform.media(without, page.items[0]!))).toMatchObject({
      code: "media_not_available",
    });
    const again = await platform.list(without, listing, null, page.validators);
    expect(again.unchanged).toBe(true);
    const withResolver = await platform.list(env, listing, null, page.validators);
    expect(withResolver).toMatchObject({ unchanged: false, items: [{ refused: null }] });
  });

  it.each([
    ["error.api.auth.key.invalid", "platform_not_configured"],
    ["error.api.rate_exceeded", "rate_limited"],
    ["error.api.fetch.fail", "upstream_failed"],
    ["error.api.content.video.age", "media_not_available"],
  ])("says what the resolver's %s means", async (code, expected) => {
    const body = JSON.stringify({ status: "error", error: { code } });
    await putScene("resolver", { items: many(1), faults: [{ path: "cobalt", status: 400, body }] });
    const item = await first(playlist("resolver"));
    expect(await failure(mediaOf("youtube", item))).toMatchObject({ code: expected });
    const asked = (await askedOf("resolver")).find(({ path }) => path === "/cobalt/")!;
    expect(asked.headers.authorization).toBe("Api-Key cobalt-key");
    expect(JSON.parse(asked.body)).toMatchObject({ url: item.pageUrl });
  });
});
