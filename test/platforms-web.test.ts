import { describe, expect, inject, it } from "vitest";
import { failure, first, mediaOf, putScene } from "./scenes.ts";

const here = inject("platformsOrigin");
const files = inject("filesOrigin");

describe("the web", () => {
  const page = async (
    name: string,
    html: string,
    faults: { path: string; status: number }[] = [],
  ) => {
    await putScene(name, { items: [], html, faults });
    return first({ kind: "url", url: `${here}/pages/${name}#top` });
  };

  it("has files themselves", async () => {
    const item = await first({ kind: "url", url: `${files}/clip.mp4` });
    expect(item).toMatchObject({ title: "clip.mp4", platformId: `${files}/clip.mp4` });
    expect(await mediaOf("web", item)).toEqual({ url: `${files}/clip.mp4`, captions: [] });
    const picture = first({ kind: "url", url: `${files}/boats.jpg` });
    expect(await failure(picture)).toMatchObject({ code: "not_a_video" });
    const nothing = first({ kind: "url", url: `${files}/nothing.mp4` });
    expect(await failure(nothing)).toMatchObject({ code: "original_removed" });
  });

  it.each([
    [
      "Open Graph",
      `<meta property="og:video" content="http://x.example/a.mp4">
      <meta property="og:video:secure_url" content="FILES/clip.mp4">
      <meta property="og:video:type" content="video/mp4">`,
    ],
    ["a player card", `<meta name="twitter:player:stream" content="FILES/clip.mp4">`],
    [
      "JSON-LD",
      `<script type="application/ld+json">{"@graph": [{"@type": ["VideoObject"],
      "contentUrl": "FILES/clip.mp4"}]}</script>`,
    ],
    ["an element", `<video src="FILES/clip.mp4"></video>`],
    [
      "a source",
      `<video><source src="FILES/a.m3u8"><source src="FILES/clip.webm">
      <source src="FILES/clip.mp4" type="video/mp4"></video>`,
    ],
    [
      "an embed first",
      `<meta property="og:video" content="https://player.example/embed/1">
      <meta property="og:video:type" content="text/html"><video src="FILES/clip.mp4"></video>`,
    ],
  ])("has pages that name a video by %s", async (name, html) => {
    const scene = `page-${name.replaceAll(" ", "-")}`;
    const item = await page(scene, `<html><head>${html}</head></html>`);
    expect(item.refused).toBeNull();
    expect((await mediaOf("web", item)).url).toBe(`${files}/clip.mp4`);
  });

  it("knows what a page says of its video", async () => {
    const item = await page(
      "described",
      `<html lang="en-gb"><head><title>Page</title><meta property="og:title" content="Boats">
      <meta property="og:description" content="In a bay"><link rel="license" href="/by">
      <link type="application/json+oembed" href="/pages/described/oembed">
      <meta name="keywords" content="sea, bay,"></head>
      <video src="FILES/clip.mp4"><track kind="captions" src="/a.vtt" srclang="en"></video>
      <script type="application/ld+json">{"@type": "VideoObject", "uploadDate": "2026-05-04"}</script>`,
    );
    expect(item).toMatchObject({
      title: "Boats",
      author: "An author",
      description: "In a bay",
      licence: `${here}/by`,
      language: "en-GB",
      publishedAt: "2026-05-04T00:00:00.000Z",
      tags: ["sea", "bay"],
      pageUrl: `${here}/pages/described`,
    });
    expect((await mediaOf("web", item)).captions).toEqual([
      { url: `${here}/a.vtt`, language: "en", format: "vtt" },
    ]);
  });

  it("takes pages without oEmbed, broken JSON-LD or an end", async () => {
    const html = `<script type="application/ld+json">{"@type": </script><title>T</title>
      <link type="application/json+oembed" href="/pages/odd/oembed"><video src="FILES/clip.mp4">`;
    const faults = [{ path: "oembed", status: 500 }];
    const item = await page("odd", html + "<p>long</p>".repeat(200_000), faults);
    expect(item).toMatchObject({ refused: null, author: null });
  });

  it("says that a page shows no video", async () => {
    const item = await page("empty", "<title>Nothing</title>");
    expect(item).toMatchObject({ title: "Nothing", refused: { code: "media_not_available" } });
    expect(await failure(mediaOf("web", item))).toMatchObject({ code: "media_not_available" });
  });

  it("leads nowhere private", async () => {
    const asked = first({ kind: "url", url: `${here}/private` });
    expect(await failure(asked)).toMatchObject({ code: "blocked_address" });
    const local = first({ kind: "url", url: "http://127.0.0.1:1/a.mp4" });
    expect(await failure(local)).toMatchObject({ code: "blocked_address" });
  });
});
