import { isPlayable, jsonLdVideos, type PageVideo, schemaName } from "./json-ld.ts";
import { languageOf } from "./item.ts";
import type { Captions } from "./platform.ts";

/** What a web page says of the video that it shows, before it is known whether there is one. */
export interface WebPage {
  /** Of MP4s first, as the page orders them; absolute. */
  videos: PageVideo[];
  captions: Captions[];
  /** `og:title` and such by their names. */
  meta: Map<string, string>;
  title: string;
  language: string | null;
  licence: string | null;
  /** Where a JSON oEmbed answer is (oembed.com). */
  oembed: string | null;
  /** Of schema.org's `VideoObject`. */
  described: { name: string | null; author: string | null; uploadDate: string | null };
}

/**
 * Looks through a page, or the beginning of one, for videos: Open Graph (ogp.me), Twitter's player card,
 * schema.org's VideoObject in JSON-LD, and elements of HTML.
 */
export async function readWebPage(html: Uint8Array, url: string): Promise<WebPage> {
  const raw = new RawPage();
  const rewriter = new HTMLRewriter()
    .on("html", { element: (element) => raw.setLanguage(element.getAttribute("lang")) })
    .on("title", { element: () => raw.beginTitle(), text: ({ text }) => raw.addTitle(text) })
    .on("meta", { element: (element) => raw.addMeta(element) })
    .on("link", { element: (element) => raw.addLink(element) })
    .on("video, video source", { element: (element) => raw.addSource(element) })
    .on("video track", { element: (element) => raw.addTrack(element) })
    .on("script[type='application/ld+json']", {
      element: () => raw.beginScript(),
      text: ({ text }) => raw.addScript(text),
    });
  await rewriter.transform(new Response(html)).arrayBuffer();
  return raw.page(url);
}

class RawPage {
  readonly #meta = new Map<string, string>();
  readonly #openGraph: PageVideo[] = [];
  readonly #sources: PageVideo[] = [];
  readonly #tracks: { src: string; language: string | null }[] = [];
  readonly #scripts: string[] = [];
  readonly #links: Record<string, string> = {};
  readonly #titles: string[] = [];
  #language: string | null = null;

  setLanguage(language: string | null): void {
    this.#language = languageOf(language);
  }

  beginTitle(): void {
    this.#titles.push("");
  }

  addTitle(text: string): void {
    this.#titles.push((this.#titles.pop() ?? "") + text);
  }

  addMeta(element: Element): void {
    const name = element.getAttribute("property") ?? element.getAttribute("name");
    const content = element.getAttribute("content");
    if (!name || !content) return;
    const last = this.#openGraph.at(-1);
    if (name === "og:video" || name === "og:video:url") this.#openGraph.push({ url: content });
    else if (name === "og:video:secure_url" && last) last.url = content;
    else if (name === "og:video:type" && last) last.type = content;
    else if (!this.#meta.has(name)) this.#meta.set(name, content);
  }

  addLink(element: Element): void {
    const href = element.getAttribute("href");
    const rel = element.getAttribute("rel")?.toLowerCase();
    if (!href) return;
    if (element.getAttribute("type") === "application/json+oembed") this.#links.oembed ??= href;
    else if (rel === "license") this.#links.licence ??= href;
  }

  addSource(element: Element): void {
    const src = element.getAttribute("src");
    const type = element.getAttribute("type");
    if (src) this.#sources.push({ url: src, ...(type && { type }) });
  }

  addTrack(element: Element): void {
    const kind = element.getAttribute("kind") ?? "subtitles";
    const src = element.getAttribute("src");
    if (!src || !/^(?:subtitles|captions)$/i.test(kind)) return;
    this.#tracks.push({ src, language: languageOf(element.getAttribute("srclang")) });
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
    const described = jsonLdVideos(this.#scripts);
    const first = described[0];
    const found = [
      ...this.#openGraph.filter(isPlayable),
      ...(stream ? [{ url: stream, ...(type && { type }) }] : []).filter(isPlayable),
      ...described.flatMap(({ contentUrl }) => (contentUrl ? [{ url: contentUrl }] : [])),
      ...this.#sources,
    ];
    return {
      videos: found
        .flatMap((one) => absolute(one.url.trim()) ?? [])
        .map((url) => ({ url }))
        .filter(({ url }) => /^https?:/.test(url) && !/\.(?:m3u8|mpd)(?:\?|$)/i.test(url))
        .sort((a, b) => Number(isMp4(b)) - Number(isMp4(a))),
      captions: this.#tracks.flatMap(({ src, language }) => {
        const url = absolute(src);
        const format = /\.srt(?:\?|$)/i.test(src) ? ("srt" as const) : ("vtt" as const);
        return url ? [{ url, language, format }] : [];
      }),
      meta: this.#meta,
      title: this.#titles[0] ?? "", // pictures in the page have titles, too
      language: this.#language,
      licence: absolute(this.#links.licence),
      oembed: absolute(this.#links.oembed),
      described: {
        name: first?.name ?? null,
        author: schemaName(first?.author),
        uploadDate: first?.uploadDate ?? null,
      },
    };
  }
}

function isMp4({ url }: PageVideo): boolean {
  return /\.(?:mp4|m4v|mov)(?:\?|$)/i.test(url);
}
