import { describe, expect, it } from "vitest";
import { parseProfile } from "../../../src/platforms/mastodon.ts";
import {
  toLanguageTag,
  toPlatformItem,
  type ImportRequest,
  type Settings,
} from "../../../src/platforms/platform.ts";
import {
  PHOTONET,
  platformByName,
  platformFor,
  VIDEONET,
} from "../../../src/platforms/registry.ts";
import { htmlToText } from "../../../src/platforms/web.ts";
import { toYouTubeRef } from "../../../src/platforms/youtube.ts";

const env: Settings = {
  FETCH_ALLOW: "",
  PEERTUBE_URL: "https://tube.example",
  COBALT_URL: "",
  YOUTUBE_API_URL: "https://youtube.example",
  YOUTUBE_API_KEY: "set",
  INSTAGRAM_API_URL: "https://instagram.example",
  INSTAGRAM_TOKEN: "set",
  INSTAGRAM_USER_ID: "1",
};
const UUID = "9c9de5e8-0a1e-484a-b099-e80766180a6d";
const SHORT = "kkGMgK9ZtnKfYAgnEtQxbv";
const CHANNEL = "UC1234567890123456789012";

function platformNameFor(request: ImportRequest, platformName?: string): string {
  return platformFor(env, request, platformName).name;
}

describe("the URL of a video", () => {
  it.each([
    [`https://tube.example/w/${SHORT}`, "peertube"],
    [`https://tube.example/w/${SHORT}?start=3s`, "peertube"],
    [`https://any.example:8443/videos/watch/${UUID}`, "peertube"],
    [`https://any.example/videos/embed/${UUID}`, "peertube"],
    ["https://any.example/videos/watch/217", "peertube"],
    [`https://any.example/videos/watch/${UUID};threadId=3`, "peertube"],
    [`https://any.example/w/${SHORT};threadId=3?start=2s`, "peertube"],
    ["https://www.youtube.com/watch?v=dQw4w9WgXcQ", "youtube"],
    ["https://m.youtube.com/watch?list=PL123&v=dQw4w9WgXcQ&t=3", "youtube"],
    ["https://youtu.be/dQw4w9WgXcQ?si=x", "youtube"],
    ["http://youtube.com/shorts/dQw4w9WgXcQ", "youtube"],
    ["https://www.youtube-nocookie.com/embed/dQw4w9WgXcQ", "youtube"],
    ["https://www.youtube.com/live/dQw4w9WgXcQ", "youtube"],
    ["https://music.youtube.com/watch?v=dQw4w9WgXcQ", "youtube"],
    ["https://example.org/a.mp4", "web"],
    ["https://example.org/w/short", "web"],
    ["https://example.org/stories/1", "web"],
    ["https://notyoutube.com/watch?v=dQw4w9WgXcQ", "web"],
    ["https://www.youtube.com/watch?v=short", "web"],
  ])("%s belongs to %s", (url, name) => {
    expect(platformNameFor({ kind: "url", url })).toBe(name);
  });

  it.each(["ftp://example.org/a.mp4", "javascript:alert(1)", "a.mp4", ""])(
    "is rejected: %j",
    (url) => {
      expect(() => platformNameFor({ kind: "url", url })).toThrow(
        expect.objectContaining({ code: "unsupported_platform" }),
      );
    },
  );
});

describe("a playlist", () => {
  it.each([
    [`https://tube.example/w/p/${SHORT}`, "peertube"],
    [`https://tube.example/videos/watch/playlist/${UUID}`, "peertube"],
    ["https://tube.example/c/channel_name/videos", "peertube"],
    ["https://tube.example/c/name@other.example", "peertube"],
    ["https://tube.example/video-channels/name", "peertube"],
    ["https://tube.example/a/name/video-channels", "peertube"],
    ["https://tube.example/accounts/name", "peertube"],
    ["https://tube.example/a/name@bücher.example/videos", "peertube"],
    ["https://www.youtube.com/playlist?list=PL590L5WQmH8fJ54F369BLDSqIwcs-TCfs", "youtube"],
    [
      "https://www.youtube.com/watch?v=dQw4w9WgXcQ&list=PL590L5WQmH8fJ54F369BLDSqIwcs-TCfs",
      "youtube",
    ],
    [`https://www.youtube.com/channel/${CHANNEL}/videos`, "youtube"],
    ["https://www.youtube.com/@NASA", "youtube"],
    ["https://www.youtube.com/@%E6%97%A5%E6%9C%AC%E8%AA%9E/videos", "youtube"],
    ["https://www.youtube.com/user/NASAtelevision", "youtube"],
    ["https://www.youtube.com/user/NASAtelevision/shorts", "youtube"],
    [`https://www.youtube.com/channel/${CHANNEL}/streams`, "youtube"],
    ["https://www.youtube.com/@हिन्दी/videos", "youtube"],
    ["https://www.youtube.com/@猫", "youtube"],
  ])("%s belongs to %s", (url, name) => {
    expect(platformNameFor({ kind: "playlist", url })).toBe(name);
  });

  it.each([
    ["PL590L5WQmH8fJ54F369BLDSqIwcs-TCfs", "youtube"],
    [CHANNEL, "youtube"],
    ["@NASA", "youtube"],
    [UUID, "peertube"],
    [SHORT, "peertube"],
  ])("with the id %s belongs to %s", (playlistId, name) => {
    expect(platformNameFor({ kind: "playlist", playlistId })).toBe(name);
  });

  it.each([
    "https://www.youtube.com/c/NASA",
    "https://www.youtube.com/feed/trending",
    "https://www.youtube.com/@NASA/playlists",
    `https://www.youtube.com/channel/${CHANNEL}/podcasts`,
    "https://tube.example/a/name@a%2fb/videos",
    "https://example.org/list/1",
    `https://tube.example/w/${SHORT}`,
    "https://tube.example/c/..%2f..%2fadmin",
    "https://www.youtube.com/@%E6%97",
    "",
  ])("is rejected: %j", (url) => {
    expect(() => platformNameFor({ kind: "playlist", url })).toThrow(
      expect.objectContaining({ code: "unsupported_platform" }),
    );
  });
});

describe("a profile", () => {
  it.each([
    ["@name@photos.example", "mastodon"],
    ["first.last@photos.example:8443", "mastodon"],
    ["@name@bücher.example", "mastodon"],
    ["name@उदाहरण.example", "mastodon"],
    ["name.of_someone", "instagram"],
    ["@name", "instagram"],
  ])("%s belongs to %s", (username, name) => {
    expect(platformNameFor({ kind: "profile", username })).toBe(name);
  });

  it.each([
    ["https://social.example/@name", "mastodon"],
    ["https://social.example/@name/media", "mastodon"],
    ["https://social.example/@name@other.example", "mastodon"],
    ["https://social.example/users/name", "mastodon"],
    ["https://social.example/web/@name", "mastodon"],
    ["https://photos.example/name", "pixelfed"],
    ["https://www.instagram.com/name/", "instagram"],
  ])("%s belongs to %s", (url, name) => {
    expect(platformNameFor({ kind: "profile", url })).toBe(name);
  });

  it.each([
    "https://www.flickr.com/people/name",
    "https://threads.net/@name",
    "https://a.example/b/c",
  ])("is rejected: %s", (url) => {
    expect(() => platformNameFor({ kind: "profile", url })).toThrow(/Supported: mastodon/);
  });

  it.each(["name)", "a b", "name){id}", "@a@b@c", "../x", ""])(
    "with a malformed name is rejected: %j",
    (username) => {
      expect(() => platformNameFor({ kind: "profile", username })).toThrow();
    },
  );
});

it("a handle's host with other letters is asked by its name in ASCII", () => {
  const origin = "https://xn--bcher-kva.example";
  const byName = { kind: "profile", username: "@name@BÜCHER.example" } as const;
  expect(parseProfile(byName, env)).toEqual({ origin, name: "name" });
  const byUrl = { kind: "profile", url: "https://social.example/@name@bücher.example" } as const;
  expect(parseProfile(byUrl, env)).toEqual({ origin, name: "name" });
  const broken = { kind: "profile", url: "https://social.example/@name@a%20b" } as const;
  expect(parseProfile(broken, env)).toBeNull();
});

describe("a platform", () => {
  it("is the named one if it supports the request, else the first that matches", () => {
    expect(platformNameFor({ kind: "search", query: "boats" })).toBe("peertube");
    expect(platformNameFor({ kind: "search", query: "boats" }, "youtube")).toBe("youtube");
    expect(platformFor({ ...env, PEERTUBE_URL: "" }, { kind: "search", query: "b" }).name).toBe(
      "youtube",
    );
    expect(() => platformNameFor({ kind: "profile", username: "b" }, "youtube")).toThrow(
      /Supported: mastodon/,
    );
    expect(() => platformNameFor({ kind: "search", query: "b" }, "nobody")).toThrow(
      /Supported: peertube/,
    );
  });

  it("is found by name, and belongs to one endpoint", () => {
    for (const name of [...VIDEONET, ...PHOTONET]) expect(platformByName(name).name).toBe(name);
    expect(VIDEONET.filter((name) => PHOTONET.includes(name))).toEqual([]);
    expect(() => platformByName("nobody")).toThrow(
      expect.objectContaining({ code: "unsupported_platform" }),
    );
  });
});

it("URLs of YouTube are parsed to a kind and an id", () => {
  const list = (url: string) => toYouTubeRef({ kind: "playlist", url });
  expect(list("https://youtube.com/@NASA/videos")).toEqual({ kind: "handle", id: "@NASA" });
  expect(list("https://youtube.com/user/NASA")).toEqual({ kind: "user", id: "NASA" });
  expect(toYouTubeRef({ kind: "url", url: "https://youtu.be/dQw4w9WgXcQ" })).toEqual({
    kind: "video",
    id: "dQw4w9WgXcQ",
  });
});

describe("metadata of a platform", () => {
  it.each([
    [
      "<p>Tea &amp; cake<br/>at <b>noon</b></p><p>&#8364;5 &#x20ac;6</p>",
      "Tea & cake\nat noon\n€5 €6",
    ],
    ["&lt;script&gt;", "<script>"],
    ["&unknown; &#0; &#x110000; a < b", "&unknown; \uFFFD \uFFFD a < b"],
    ["", ""],
  ])("is converted from HTML to text: %j", (html, text) => {
    expect(htmlToText(html)).toBe(text);
  });

  it.each([
    ["en", "en"],
    ["pt_BR", "pt-BR"],
    ["zh-hans", "zh-Hans"],
    ["no language", null],
    ["", null],
    [null, null],
  ])("has its language normalised: %j", (tag, language) => {
    expect(toLanguageTag(tag)).toBe(language);
  });

  it("is shortened to the limits", () => {
    const item = toPlatformItem({
      platformId: "a",
      assetType: "image",
      pageUrl: "https://a.example/",
      title: "  ",
      description: "d".repeat(9000),
      tags: Array.from({ length: 99 }, () => "t".repeat(999)),
      publishedAt: "yesterday",
      handle: {},
    });
    expect(item).toMatchObject({ title: "a", publishedAt: null, unavailable: null });
    expect(item.description).toHaveLength(5000);
    expect(item.tags).toHaveLength(50);
    expect(item.tags[0]).toHaveLength(100);
  });
});
