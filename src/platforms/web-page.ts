import { decodeHTML, decodeHTMLAttribute } from "entities";
import { decodeHtml } from "./html-encoding.ts";
import { toLanguageTag } from "./item.ts";
import { isPlayable, findVideoObjects, type PageVideo, firstName } from "./json-ld.ts";
import type { Captions } from "./platform.ts";

/** Metadata of a web page about the video that it shows, if any. */
export interface WebPage {
  /** Absolute URLs of video files: MP4 first, then in the order of the page. */
  videos: PageVideo[];
  captions: Captions[];
  /** Content of the `meta` elements by name, such as `og:title`. */
  meta: Map<string, string>;
  title: string;
  language: string | null;
  licence: string | null;
  /** URL of the JSON oEmbed response (oembed.com). */
  oembed: string | null;
  /** The page's first `VideoObject` (schema.org). */
  videoObject: { name: string | null; author: string | null; uploadDate: string | null };
}

/**
 * Parses a web page, or the beginning of one, for videos: Open Graph (ogp.me), Twitter's player
 * card, schema.org's VideoObject in JSON-LD, and HTML elements. The page is decoded by the charset
 * of `contentType`, or by its own; entities are resolved.
 */
export async function parseWebPage(
  html: Uint8Array,
  url: string,
  contentType = "",
): Promise<WebPage> {
  const collector = new PageCollector();
  const rewriter = new HTMLRewriter()
    .on("html", { element: (element) => collector.setLanguage(attribute(element, "lang")) })
    .on("title", {
      element: () => collector.beginTitle(),
      text: ({ text }) => collector.addTitle(text),
    })
    .on("meta", { element: (element) => collector.addMeta(element) })
    .on("link", { element: (element) => collector.addLink(element) })
    .on("video, video source, amp-video, amp-video source", {
      element: (element) => collector.addSource(element),
    })
    .on("video track, amp-video track", { element: (element) => collector.addTrack(element) })
    .on("script[type='application/ld+json']", {
      element: () => collector.beginScript(),
      text: ({ text }) => collector.addScript(text),
    });
  await rewriter.transform(new Response(decodeHtml(html, contentType))).arrayBuffer();
  return collector.page(url);
}

/** Returns the value of an attribute, without entities. */
function attribute(element: Element, name: string): string | null {
  const value = element.getAttribute(name);
  return value === null ? null : decodeHTMLAttribute(value);
}

class PageCollector {
  readonly #meta = new Map<string, string>();
  readonly #openGraph: PageVideo[] = [];
  readonly #sources: PageVideo[] = [];
  readonly #tracks: { src: string; language: string | null }[] = [];
  readonly #scripts: string[] = [];
  readonly #links: Record<string, string> = {};
  readonly #titles: string[] = [];
  #language: string | null = null;

  setLanguage(language: string | null): void {
    this.#language = toLanguageTag(language);
  }

  beginTitle(): void {
    this.#titles.push("");
  }

  addTitle(text: string): void {
    this.#titles.push((this.#titles.pop() ?? "") + text);
  }

  addMeta(element: Element): void {
    const name = attribute(element, "property") ?? attribute(element, "name");
    const content = attribute(element, "content");
    if (!name || !content) return;
    const last = this.#openGraph.at(-1);
    if (name === "og:video" || name === "og:video:url") this.#openGraph.push({ url: content });
    else if (name === "og:video:secure_url" && last) last.url = content;
    else if (name === "og:video:type" && last) last.type = content;
    else if (!this.#meta.has(name)) this.#meta.set(name, content);
  }

  addLink(element: Element): void {
    const href = attribute(element, "href");
    const rel = attribute(element, "rel")?.toLowerCase();
    if (!href) return;
    if (attribute(element, "type") === "application/json+oembed") this.#links.oembed ??= href;
    else if (rel === "license") this.#links.licence ??= href;
  }

  addSource(element: Element): void {
    const src = attribute(element, "src");
    const type = attribute(element, "type");
    if (src) this.#sources.push({ url: src, ...(type && { type }) });
  }

  addTrack(element: Element): void {
    const kind = attribute(element, "kind") ?? "subtitles";
    const src = attribute(element, "src");
    if (!src || !/^(?:subtitles|captions)$/i.test(kind)) return;
    this.#tracks.push({ src, language: toLanguageTag(attribute(element, "srclang")) });
  }

  beginScript(): void {
    this.#scripts.push("");
  }

  addScript(text: string): void {
    this.#scripts.push((this.#scripts.pop() ?? "") + text);
  }

  page(base: string): WebPage {
    const absolute = (href: string | undefined) => URL.parse(href ?? "", base)?.href ?? null;
    const stream = this.#meta.get("twitter:player:stream");
    const type = this.#meta.get("twitter:player:stream:content_type");
    const videoObjects = findVideoObjects(this.#scripts);
    const [first] = videoObjects;
    const candidates = [
      ...this.#openGraph.filter(isPlayable),
      ...(stream ? [{ url: stream, ...(type && { type }) }] : []).filter(isPlayable),
      ...videoObjects.flatMap(({ contentUrl }) => (contentUrl ? [{ url: contentUrl }] : [])),
      ...this.#sources,
    ];
    return {
      videos: candidates
        .flatMap(({ url }) => absolute(url.trim()) ?? [])
        .map((url) => ({ url }))
        .filter(({ url }) => /^https?:/.test(url) && !/\.(?:m3u8|mpd)(?:\?|$)/i.test(url))
        .sort((a, b) => Number(isMp4(b)) - Number(isMp4(a))),
      captions: this.#tracks.flatMap(({ src, language }) => {
        const url = absolute(src);
        const format = /\.srt(?:\?|$)/i.test(src) ? ("srt" as const) : ("vtt" as const);
        return url ? [{ url, language, format }] : [];
      }),
      meta: this.#meta,
      // SVG images in the page have titles, too.
      title: decodeHTML(this.#titles[0] ?? "").replaceAll(/\s+/g, " "),
      language: this.#language,
      licence: absolute(this.#links.licence),
      oembed: absolute(this.#links.oembed),
      videoObject: {
        name: first?.name ?? null,
        author: firstName(first?.author),
        uploadDate: first?.uploadDate ?? null,
      },
    };
  }
}

function isMp4({ url }: PageVideo): boolean {
  return /\.(?:mp4|m4v|mov)(?:\?|$)/i.test(url);
}
