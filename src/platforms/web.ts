import { z } from "zod";
import { AppError } from "../errors.ts";
import { askJson } from "../fetching/ask.ts";
import { fetchPage } from "../fetching/page.ts";
import { maybe, notAvailable, onlyPage, platformItem, unsupported } from "./item.ts";
import { unescaped } from "./plain-text.ts";
import type { Media, Platform, PlatformItem } from "./platform.ts";
import type { Settings } from "./settings.ts";
import { readWebPage, type WebPage } from "./web-page.ts";

const place = z.object({ url: z.string() });
const oembed = z.object({ title: maybe(z.string()), author_name: maybe(z.string()) });

/** A video file, or any page that says where its video is. The last resort. */
export const web: Platform = {
  name: "web",
  kinds: ["url"],
  matches: (wanted) => urlOf(wanted) !== null,
  resolve: async (_, wanted) => {
    const url = urlOf(wanted);
    if (!url) throw unsupported("the web", wanted);
    return { platform: "web", title: url, url, of: { url } };
  },
  list: async (env, { of }) => {
    const { url } = place.parse(of);
    const page = await pageAt(env, url);
    return onlyPage([page ? await pageItem(env, url, page) : fileItem(url)]);
  },
  media: async (env, item): Promise<Media> => {
    const { url } = place.parse(item.handle);
    const page = await pageAt(env, url);
    if (!page) return { url, captions: [] };
    const found = page.videos[0];
    if (!found) throw notAvailable(NO_VIDEO);
    return { url: found.url, captions: page.captions };
  },
};

const NO_VIDEO = "The page shows no video whose file it names.";

function urlOf(wanted: Parameters<Platform["matches"]>[0]): string | null {
  const url = wanted.kind === "url" ? URL.parse(wanted.url) : null;
  if (!url || !/^https?:$/.test(url.protocol)) return null;
  url.hash = "";
  return url.href;
}

/** Null where there is a file itself. */
async function pageAt(env: Settings, url: string): Promise<WebPage | null> {
  const page = await fetchPage(env.FETCH_ALLOW, url);
  if (/^(?:text\/html|application\/xhtml)/i.test(page.type)) {
    return readWebPage(page.bytes, page.url);
  }
  if (/^(?:image|text|audio|application\/(?:json|pdf|xml))/i.test(page.type)) {
    throw new AppError("not_a_video", `There is no video, but ${page.type.slice(0, 80)}.`);
  }
  return null;
}

function fileItem(url: string): PlatformItem {
  return platformItem({
    platformId: url,
    assetType: "video",
    pageUrl: url,
    title: unescaped(new URL(url).pathname.split("/").at(-1) ?? ""),
    handle: { url },
  });
}

async function pageItem(env: Settings, url: string, page: WebPage): Promise<PlatformItem> {
  const { meta, described } = page;
  const embed = await embedOf(env, page.oembed);
  return platformItem({
    platformId: url,
    assetType: "video",
    pageUrl: url,
    title: meta.get("og:title") ?? described.name ?? embed?.title ?? page.title,
    author: described.author ?? embed?.author_name ?? meta.get("author"),
    licence: page.licence,
    publishedAt:
      described.uploadDate ??
      meta.get("og:video:release_date") ??
      meta.get("article:published_time"),
    description: meta.get("og:description") ?? meta.get("description"),
    tags: (meta.get("keywords") ?? "")
      .split(",")
      .map((tag) => tag.trim())
      .filter(Boolean),
    language: page.language,
    handle: { url },
    refused: page.videos.length > 0 ? undefined : NO_VIDEO,
  });
}

/** What it lacks only makes a record less full. */
async function embedOf(env: Settings, url: string | null) {
  if (!url) return null;
  try {
    return await askJson(env, { who: "The page's oEmbed server", url, schema: oembed });
  } catch {
    return null;
  }
}
