import { decodeHTMLStrict } from "entities";
import { z } from "zod";
import { optional } from "./item.ts";

export interface PageVideo {
  url: string;
  /** MIME type, if the page declares one. */
  type?: string;
}

/** A text whose writer may have escaped it for HTML. */
const text = z.string().transform((escaped) => decodeHTMLStrict(escaped));
const named = z.object({ name: text });
const video = z.object({
  name: optional(text),
  contentUrl: optional(text),
  uploadDate: optional(z.string()),
  author: optional(z.union([text, named, z.array(z.union([text, named]))])),
});
type VideoObject = z.infer<typeof video>;

/** Maximum nesting depth that is searched. */
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
  const videoObject = isVideo ? video.safeParse(value).data : undefined;
  return videoObject ? [videoObject, ...nested] : nested;
}

/** Returns the name of the first author, in any of schema.org's notations. */
export function firstName(author: VideoObject["author"]): string | null {
  const first = Array.isArray(author) ? author[0] : author;
  return typeof first === "object" ? (first?.name ?? null) : (first ?? null);
}

/** Whether a URL is a video file. Open Graph also lists pages with a player as videos. */
export function isPlayable({ url, type }: PageVideo): boolean {
  if (type) return type.startsWith("video/");
  return /\.(?:mp4|m4v|mov|webm|mkv)(?:[?#]|$)/i.test(url);
}
