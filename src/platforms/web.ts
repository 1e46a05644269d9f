import { decodeHTMLStrict } from "entities";
import { z } from "zod";
import { LIMITS } from "../config.ts";
import { AppError } from "../errors.ts";
import { fetchJson } from "../fetching/fetch-json.ts";
import { fetchLimited } from "../fetching/fetch-limited.ts";
import { toUpstreamError } from "../fetching/upstream-error.ts";
import { titleFromUrl } from "../title.ts";
import {
  optional,
  mediaNotAvailable,
  singlePage,
  toPlatformItem,
  unsupportedRequest,
} from "./item.ts";
import type { Media, Platform, PlatformItem } from "./platform.ts";
import type { Settings } from "./settings.ts";
import { parseWebPage, type WebPage } from "./web-page.ts";

const pageRef = z.object({ url: z.string() });
/** WordPress escapes these texts for HTML. */
const oembedText = optional(z.string().transform((escaped) => decodeHTMLStrict(escaped)));
const oembedResponse = z.object({ title: oembedText, author_name: oembedText });

/** A video file, or a web page that names the file of its video. Matches any URL: comes last. */
export const web: Platform = {
  name: "web",
  kinds: ["url"],
  matches: (request) => toWebUrl(request) !== null,
  resolve: async (_, request) => {
    const url = toWebUrl(request);
    if (!url) throw unsupportedRequest("the web", request);
    return { platform: "web", title: url, url, ref: { url } };
  },
  list: async (env, { ref }) => {
    const { url } = pageRef.parse(ref);
    const page = await fetchWebPage(env, url);
    return singlePage([page ? await toPageItem(env, url, page) : toFileItem(url)]);
  },
  media: async (env, item): Promise<Media> => {
    const { url } = pageRef.parse(item.handle);
    const page = await fetchWebPage(env, url);
    if (!page) return { url, captions: [] };
    const [video] = page.videos;
    if (!video) throw mediaNotAvailable(NO_VIDEO);
    return { url: video.url, captions: page.captions };
  },
};

const NO_VIDEO = "The page doesn't name the file of a video.";

function toWebUrl(request: Parameters<Platform["matches"]>[0]): string | null {
  const url = request.kind === "url" ? URL.parse(request.url) : null;
  if (!url || !/^https?:$/.test(url.protocol)) return null;
  url.hash = "";
  return url.href;
}

/** Fetches a web page; null if the URL is a media file. Throws `not_a_video` for other files. */
async function fetchWebPage(env: Settings, url: string): Promise<WebPage | null> {
  const page = await fetchPage(env.FETCH_ALLOW, url);
  if (/^(?:text\/html|application\/xhtml)/i.test(page.contentType)) {
    return parseWebPage(page.bytes, page.url, page.contentType);
  }
  if (/^(?:image|text|audio|application\/(?:json|pdf|xml))/i.test(page.contentType)) {
    throw new AppError("not_a_video", `There is no video, but ${page.contentType.slice(0, 80)}.`);
  }
  return null;
}

function toFileItem(url: string): PlatformItem {
  return toPlatformItem({
    platformId: url,
    assetType: "video",
    pageUrl: url,
    title: titleFromUrl(url),
    handle: { url },
  });
}

async function toPageItem(env: Settings, url: string, page: WebPage): Promise<PlatformItem> {
  const { meta, videoObject } = page;
  const oembed = await fetchOembed(env, page.oembed);
  return toPlatformItem({
    platformId: url,
    assetType: "video",
    pageUrl: url,
    title: meta.get("og:title") ?? videoObject.name ?? oembed?.title ?? page.title,
    author: videoObject.author ?? oembed?.author_name ?? meta.get("author"),
    licence: page.licence,
    publishedAt:
      videoObject.uploadDate ??
      meta.get("og:video:release_date") ??
      meta.get("article:published_time"),
    description: meta.get("og:description") ?? meta.get("description"),
    tags: (meta.get("keywords") ?? "")
      .split(",")
      .map((tag) => tag.trim())
      .filter(Boolean),
    language: page.language,
    handle: { url },
    unavailable: page.videos.length > 0 ? undefined : NO_VIDEO,
  });
}

/** Fetches a page's oEmbed response (oembed.com). Returns null on error: oEmbed is optional. */
async function fetchOembed(env: Settings, url: string | null) {
  if (!url) return null;
  try {
    return await fetchJson(env, {
      serverName: "The page's oEmbed server",
      url,
      schema: oembedResponse,
    });
  } catch {
    return null;
  }
}

export interface FetchedPage {
  /** The URL after redirects. */
  url: string;
  /** The content type; empty if the server sends none. */
  contentType: string;
  /** The first `LIMITS.webPageBytes` of a text; empty for any other content type. */
  bytes: Uint8Array<ArrayBuffer>;
}

/**
 * Fetches a web page from a public address. Throws `blocked_address`, `upstream_timeout`,
 * `upstream_unavailable`, and the errors of `toUpstreamError`.
 */
export async function fetchPage(allowed: string, url: string): Promise<FetchedPage> {
  const serverName = `The server ${URL.parse(url)?.host}`;
  const { response, bytes } = await fetchLimited(allowed, { serverName, url }, (head) =>
    /^text\/|xhtml/i.test(contentTypeOf(head)) ? LIMITS.webPageBytes : 0,
  );
  if (!response.ok) throw toUpstreamError(serverName, response);
  return { url: response.url, contentType: contentTypeOf(response), bytes };
}

function contentTypeOf(response: Response): string {
  return response.headers.get("content-type") ?? "";
}
