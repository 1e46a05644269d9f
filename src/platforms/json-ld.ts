import { z } from "zod";
import { maybe } from "./item.ts";

export interface PageVideo {
  url: string;
  /** Its MIME type, as the page says. */
  type?: string;
}

const named = z.object({ name: z.string() });
const video = z.object({
  name: maybe(z.string()),
  contentUrl: maybe(z.string()),
  uploadDate: maybe(z.string()),
  author: maybe(z.union([z.string(), named, z.array(z.union([z.string(), named]))])),
});
type VideoObject = z.infer<typeof video>;

/** Things inside things that are looked at. */
const MOST_DEEP = 6;

/** Every `VideoObject` (schema.org/VideoObject) in JSON-LD scripts, however deep in what they tell. */
export function jsonLdVideos(scripts: string[]): VideoObject[] {
  return scripts.flatMap((script) => {
    try {
      return videosIn(JSON.parse(script), 0);
    } catch {
      return [];
    }
  });
}

function videosIn(value: unknown, depth: number): VideoObject[] {
  if (typeof value !== "object" || value === null || depth > MOST_DEEP) return [];
  const inside = Object.values(value).flatMap((one) => videosIn(one, depth + 1));
  const type = "@type" in value ? value["@type"] : null;
  const isVideo = Array.isArray(type) ? type.includes("VideoObject") : type === "VideoObject";
  const own = isVideo ? video.safeParse(value).data : undefined;
  return own ? [own, ...inside] : inside;
}

/** The first name of a person or organisation, told in any of schema.org's ways. */
export function schemaName(told: VideoObject["author"]): string | null {
  const first = Array.isArray(told) ? told[0] : told;
  return typeof first === "object" ? (first?.name ?? null) : (first ?? null);
}

/** Not a page that plays it, which Open Graph also calls a video. */
export function isPlayable({ url, type }: PageVideo): boolean {
  if (type) return type.startsWith("video/");
  return /\.(?:mp4|m4v|mov|webm|mkv)(?:[?#]|$)/i.test(url);
}
