import { describe, expect, inject, it } from "vitest";
import { errorOf, firstItem, resolveMedia, stubPlatform } from "../support/platform-stubs.ts";

const platformsOrigin = inject("platformsOrigin");
const filesOrigin = inject("filesOrigin");

describe("a web page", () => {
  const page = async (
    name: string,
    html: string,
    faults: { path: string; status: number }[] = [],
  ) => {
    await stubPlatform(name, { items: [], html, faults });
    return firstItem({ kind: "url", url: `${platformsOrigin}/pages/${name}#top` });
  };

  it("may be a video file, but throws not_a_video for any other file", async () => {
    const item = await firstItem({ kind: "url", url: `${filesOrigin}/clip.mp4` });
    expect(item).toMatchObject({ title: "clip.mp4", platformId: `${filesOrigin}/clip.mp4` });
    expect(await resolveMedia("web", item)).toEqual({
      url: `${filesOrigin}/clip.mp4`,
      captions: [],
    });
    const image = firstItem({ kind: "url", url: `${filesOrigin}/boats.jpg` });
    expect(await errorOf(image)).toMatchObject({ code: "not_a_video" });
    const missing = firstItem({ kind: "url", url: `${filesOrigin}/nothing.mp4` });
    expect(await errorOf(missing)).toMatchObject({ code: "original_removed" });
  });

  it.each([
    [
      "Open Graph",
      `<meta property="og:video" content="http://x.example/a.mp4">
      <meta property="og:video:secure_url" content="FILES/clip.mp4">
      <meta property="og:video:type" content="video/mp4">`,
    ],
    ["player card", `<meta name="twitter:player:stream" content="FILES/clip.mp4">`],
    [
      "JSON-LD",
      `<script type="application/ld+json">{"@graph": [{"@type": ["VideoObject"],
      "contentUrl": "FILES/clip.mp4"}]}</script>`,
    ],
    ["video element", `<video src="FILES/clip.mp4"></video>`],
    [
      "source element",
      `<video><source src="FILES/a.m3u8"><source src="FILES/clip.webm">
      <source src="FILES/clip.mp4" type="video/mp4"></video>`,
    ],
    [
      "video element after an embed",
      `<meta property="og:video" content="https://player.example/embed/1">
      <meta property="og:video:type" content="text/html"><video src="FILES/clip.mp4"></video>`,
    ],
  ])("names its video by %s", async (name, html) => {
    const scene = `page-${name.replaceAll(" ", "-")}`;
    const item = await page(scene, `<html><head>${html}</head></html>`);
    expect(item.unavailable).toBeNull();
    expect((await resolveMedia("web", item)).url).toBe(`${filesOrigin}/clip.mp4`);
  });

  it("provides the metadata of its video", async () => {
    const item = await page(
      "described",
      `<html lang="en-gb"><head><title>Page</title><meta property="og:title" content="Boats">
      <meta property="og:description" content="In a bay"><link rel="license" href="/by">
      <meta name="author" content="An author"><meta name="keywords" content="sea, bay,"></head>
      <video src="FILES/clip.mp4"><track kind="captions" src="/a.vtt" srclang="en"></video>
      <script type="application/ld+json">{"@type": "VideoObject",
      "uploadDate": "2026-05-04"}</script>`,
    );
    expect(item).toMatchObject({
      title: "Boats",
      author: "An author",
      description: "In a bay",
      licence: `${platformsOrigin}/by`,
      language: "en-GB",
      publishedAt: "2026-05-04T00:00:00.000Z",
      tags: ["sea", "bay"],
      pageUrl: `${platformsOrigin}/pages/described`,
    });
    expect((await resolveMedia("web", item)).captions).toEqual([
      { url: `${platformsOrigin}/a.vtt`, language: "en" },
    ]);
  });

  it("may have entities in its JSON, and in URLs", async () => {
    const scripts = `<script type="application/ld+json">{"@type": "VideoObject",
      "name": "Tom &amp; Jerry&#8217;s <b>",
      "contentUrl": "FILES/clip.mp4?a=1&amp;copy=2&reg=3"}</script>`;
    const item = await page("entities", scripts);
    expect(item.title).toBe("Tom & Jerry’s <b>");
    const { url } = await resolveMedia("web", item);
    expect(url).toBe(`${filesOrigin}/clip.mp4?a=1&copy=2&reg=3`);
  });

  it("is decoded by its charset, as an AMP page in Latin-1", async () => {
    const latin1 = Buffer.from(
      `<!doctype html><html amp lang="de"><head><meta charset="ISO-8859-1"><title>Gr\u00fc\u00dfe
      &#252;ber K\u00f6ln</title></head><body><amp-video><source type="video/mp4"
      src="/clip.mp4?x=1&amp;y=2"></amp-video><video src="clip.mp4?x=1&amp;y=&uuml;"></video>`,
      "latin1",
    );
    const upload = { method: "PUT", body: latin1 };
    const name = `${crypto.randomUUID()}.htm`;
    await fetch(`${filesOrigin}/${name}`, upload);
    const item = await firstItem({ kind: "url", url: `${filesOrigin}/${name}` });
    expect(item).toMatchObject({ title: "Grüße über Köln", language: "de" });
    const { url } = await resolveMedia("web", item);
    expect(url).toBe(`${filesOrigin}/clip.mp4?x=1&y=2`);
  });

  it("is parsed despite malformed JSON-LD and a long body", async () => {
    const html = `<script type="application/ld+json">{"@type": </script><title>T</title>
      <video src="FILES/clip.mp4">`;
    const item = await page("odd", html + "<p>long</p>".repeat(200_000));
    expect(item).toMatchObject({ unavailable: null, author: null });
  });

  it("without a video is listed as unavailable", async () => {
    const item = await page("empty", "<title>Nothing</title>");
    expect(item).toMatchObject({ title: "Nothing", unavailable: { code: "media_not_available" } });
    expect(await errorOf(resolveMedia("web", item))).toMatchObject({ code: "media_not_available" });
  });

  it("at a private address is blocked", async () => {
    const redirected = firstItem({ kind: "url", url: `${platformsOrigin}/private` });
    expect(await errorOf(redirected)).toMatchObject({ code: "blocked_address" });
    const local = firstItem({ kind: "url", url: "http://127.0.0.1:1/a.mp4" });
    expect(await errorOf(local)).toMatchObject({ code: "blocked_address" });
  });
});
