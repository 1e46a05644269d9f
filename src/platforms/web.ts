import { decodeHTML, decodeHTMLAttribute, decodeHTMLStrict } from "entities";
import * as z from "zod";
import { titleFromUrl } from "../asset-names.ts";
import { LIMITS } from "../config.ts";
import { AppError } from "../errors.ts";
import { fetchLimited, toUpstreamError } from "../fetching/guarded-fetch.ts";
import {
  optional,
  toLanguageTag,
  type Captions,
  mediaNotAvailable,
  singlePage,
  type ImportRequest,
  toPlatformItem,
  type Platform,
  type Settings,
} from "./platform.ts";

const pageRef = z.object({ url: z.string() });
/** A video file, or a web page that names the file of its video. Matches any URL: comes last. */
export const web: Platform<string> = {
  name: "web",
  kinds: ["url"],
  parse: toWebUrl,
  resolve: async (_, url) => ({ platform: "web", title: url, url, ref: { url } }),
  list: async (env, { ref }) => {
    const { url } = pageRef.parse(ref);
    const page = await fetchWebPage(env, url);
    const described = page ? describePage(page) : { title: titleFromUrl(url) };
    const item = { platformId: url, assetType: "video", pageUrl: url, handle: { url } } as const;
    return singlePage([toPlatformItem({ ...item, ...described })]);
  },
  media: async (env, item) => {
    const { url } = pageRef.parse(item.handle);
    const page = await fetchWebPage(env, url);
    if (!page) return { url, captions: [] };
    const [video] = page.videos;
    if (!video) throw mediaNotAvailable(NO_VIDEO);
    return { url: video, captions: page.captions };
  },
};

const NO_VIDEO = "The page doesn't name the file of a video.";

function toWebUrl(request: ImportRequest): string | null {
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

function describePage(page: WebPage) {
  const { meta, videoObject } = page;
  return {
    title: meta.get("og:title") ?? videoObject?.name ?? page.title,
    author: videoObject?.author ?? meta.get("author"),
    licence: page.licence,
    publishedAt:
      videoObject?.uploadDate ??
      meta.get("og:video:release_date") ??
      meta.get("article:published_time"),
    description: meta.get("og:description") ?? meta.get("description"),
    tags: (meta.get("keywords") ?? "")
      .split(",")
      .map((tag) => tag.trim())
      .filter(Boolean),
    language: page.language,
    unavailable: page.videos.length > 0 ? undefined : NO_VIDEO,
  };
}

/**
 * Fetches a web page from a public address: its URL after redirects, its content type, empty
 * without one, and the first `LIMITS.webPageBytes` of a text, no bytes of anything else. Throws
 * `blocked_address`, `upstream_timeout`, `upstream_unavailable`, and the errors of
 * `toUpstreamError`.
 */
export async function fetchPage(allowed: string, url: string) {
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

/** Metadata of a web page about the video that it shows, if any. */
interface WebPage {
  /** Absolute URLs of video files: MP4 first, then in the order of the page. */
  videos: string[];
  captions: Captions[];
  /** Content of the `meta` elements by name, such as `og:title`. */
  meta: Map<string, string>;
  title: string;
  language: string | null;
  licence: string | null;
  /** The page's first `VideoObject` (schema.org). */
  videoObject: VideoObject | undefined;
}

interface PageVideo {
  url: string;
  type?: string;
}

/**
 * Parses a web page, or the beginning of one, for videos: Open Graph (ogp.me), Twitter's player
 * card, schema.org's VideoObject in JSON-LD, and HTML elements. The page is decoded by the charset
 * of `contentType`, or by its own; entities are resolved.
 */
async function parseWebPage(html: Uint8Array, url: string, contentType = ""): Promise<WebPage> {
  const meta = new Map<string, string>();
  const openGraph: PageVideo[] = [];
  const sources: PageVideo[] = [];
  const tracks: { src: string; language: string | null }[] = [];
  const scripts: string[] = [];
  const titles: string[] = [];
  let language: string | null = null;
  let licence: string | null = null;

  function addMeta(element: Element): void {
    const name = attribute(element, "property") ?? attribute(element, "name");
    const content = attribute(element, "content");
    if (!name || !content) return;
    const last = openGraph.at(-1);
    if (name === "og:video" || name === "og:video:url") openGraph.push({ url: content });
    else if (name === "og:video:secure_url" && last) last.url = content;
    else if (name === "og:video:type" && last) last.type = content;
    else if (!meta.has(name)) meta.set(name, content);
  }

  const rewriter = new HTMLRewriter()
    .on("html", {
      element: (element) => void (language = toLanguageTag(attribute(element, "lang"))),
    })
    .on("title", collectText(titles))
    .on("meta", { element: addMeta })
    .on("link[rel='license' i]", {
      element: (element) => void (licence ??= attribute(element, "href")),
    })
    .on("video, video source, amp-video, amp-video source", {
      element: (element) => void sources.push({ url: attribute(element, "src") ?? "" }),
    })
    .on("video track, amp-video track", {
      element(element) {
        const [kind, src] = [attribute(element, "kind") ?? "subtitles", attribute(element, "src")];
        if (!src || !/^(?:subtitles|captions)$/i.test(kind)) return;
        tracks.push({ src, language: toLanguageTag(attribute(element, "srclang")) });
      },
    })
    .on("script[type='application/ld+json']", collectText(scripts));
  await rewriter.transform(new Response(decodeHtml(html, contentType))).arrayBuffer();

  const absolute = (href: string | null | undefined) => URL.parse(href ?? "", url)?.href ?? null;
  const stream = meta.get("twitter:player:stream");
  const type = meta.get("twitter:player:stream:content_type");
  const videoObjects = findVideoObjects(scripts);
  const candidates = [
    ...openGraph.filter(isPlayable),
    ...(stream ? [{ url: stream, ...(type && { type }) }] : []).filter(isPlayable),
    ...videoObjects.flatMap(({ contentUrl }) => (contentUrl ? [{ url: contentUrl }] : [])),
    ...sources.filter(({ url: src }) => src !== ""),
  ];
  return {
    videos: candidates
      .flatMap((each) => absolute(each.url.trim()) ?? [])
      .filter((href) => /^https?:/.test(href) && !/\.(?:m3u8|mpd)(?:\?|$)/i.test(href))
      .sort((a, b) => Number(isMp4(b)) - Number(isMp4(a))),
    captions: tracks.flatMap(({ src, language: trackLanguage }) => {
      const href = absolute(src);
      return href ? [{ url: href, language: trackLanguage }] : [];
    }),
    meta,
    // SVG images in the page have titles, too.
    title: decodeHTML(titles[0] ?? "").replaceAll(/\s+/g, " "),
    language,
    licence: absolute(licence),
    videoObject: videoObjects[0],
  };
}

function attribute(element: Element, name: string): string | null {
  const value = element.getAttribute(name);
  return value === null ? null : decodeHTMLAttribute(value);
}

function collectText(texts: string[]) {
  return {
    element: () => void texts.push(""),
    text: ({ text }: { text: string }) => void texts.push((texts.pop() ?? "") + text),
  };
}

function isMp4(url: string): boolean {
  return /\.(?:mp4|m4v|mov)(?:\?|$)/i.test(url);
}

/** Whether a URL is a video file. Open Graph also lists pages with a player as videos. */
export function isPlayable({ url, type }: PageVideo): boolean {
  if (type) return type.startsWith("video/");
  return /\.(?:mp4|m4v|mov|webm|mkv)(?:[?#]|$)/i.test(url);
}

/** A text whose writer may have escaped it for HTML. */
const escapedText = z.string().transform((escaped) => decodeHTMLStrict(escaped));
const named = z.union([escapedText, z.object({ name: escapedText }).transform(({ name }) => name)]);
const videoObject = z.object({
  name: optional(escapedText),
  contentUrl: optional(escapedText),
  uploadDate: optional(z.string()),
  /** The name of the first author, in any of schema.org's notations. */
  author: optional(z.union([named, z.array(named).transform(([first]) => first ?? null)])),
});
type VideoObject = z.infer<typeof videoObject>;

const MAX_DEPTH = 6;

/** Finds the `VideoObject`s (schema.org/VideoObject) in JSON-LD scripts, nested ones included. */
export function findVideoObjects(scripts: string[]): VideoObject[] {
  return scripts.flatMap((script) => {
    try {
      return collectVideoObjects(JSON.parse(script), 0);
    } catch {
      return [];
    }
  });
}

function collectVideoObjects(value: unknown, depth: number): VideoObject[] {
  if (typeof value !== "object" || value === null || depth > MAX_DEPTH) return [];
  const nested = Object.values(value).flatMap((child) => collectVideoObjects(child, depth + 1));
  const type = "@type" in value ? value["@type"] : null;
  const isVideo = Array.isArray(type) ? type.includes("VideoObject") : type === "VideoObject";
  const parsed = isVideo ? videoObject.safeParse(value).data : undefined;
  return parsed ? [parsed, ...nested] : nested;
}

/** Bytes in which a page names its encoding (HTML standard, 13.2.3.2). */
const HEAD_BYTES = 4096;
const CHARSET = /charset\s{0,9}=\s{0,9}["']?([\w.:-]{1,40})/i;
const META_CHARSET = /<meta\s[^>]{0,400}?charset\s{0,9}=\s{0,9}["']?([\w.:-]{1,40})/i;

/**
 * Decodes a page as UTF-8 if it can be, else by the charset of its content type or of a `meta`
 * element, else as Windows-1252.
 */
export function decodeHtml(bytes: Uint8Array, contentType: string): string {
  const head = new TextDecoder("windows-1252").decode(bytes.subarray(0, HEAD_BYTES));
  const labels = [CHARSET.exec(contentType)?.[1], META_CHARSET.exec(head)?.[1]];
  for (const label of ["utf-8", ...labels, "windows-1252"]) {
    try {
      const decoder = new TextDecoder(label ?? "", { fatal: label === "utf-8", ignoreBOM: false });
      return decoder.decode(bytes, { stream: true }); // the page may be cut off
    } catch {
      // An unknown label, or it isn't UTF-8.
    }
  }
  return head;
}

/** More than the longest description that is kept, with its markup. */
const MAX_CHARACTERS = 100_000;

/** Converts HTML to text, with one line for each paragraph. Reads the first `MAX_CHARACTERS`. */
export function htmlToText(html: string): string {
  const text = html
    .slice(0, MAX_CHARACTERS)
    .replaceAll(/<(?:br\s{0,9}\/?|\/p)>/gi, "\n")
    .replaceAll(/<[^<>]*>/g, "");
  return decodeHTML(text).replaceAll("\u00A0", " ").trim();
}
