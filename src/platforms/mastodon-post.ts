import { z } from "zod";
import { optional, toPlatformItem, parseItems, httpUrl } from "./item.ts";
import { htmlToText } from "./plain-text.ts";
import type { PlatformItem } from "./platform.ts";

const attachment = z.object({
  id: z.string(),
  type: z.string(),
  url: optional(httpUrl),
  /** MIME type; Pixelfed only. */
  mime: optional(z.string()),
  license: optional(z.object({ title: optional(z.string()), url: optional(z.string()) })),
  description: optional(z.string()),
});

export const post = z.object({
  id: z.string(),
  url: httpUrl,
  visibility: optional(z.string()),
  created_at: optional(z.string()),
  content: optional(z.string()),
  language: optional(z.string()),
  account: z.object({ acct: z.string(), display_name: optional(z.string()) }),
  tags: optional(z.array(z.object({ name: z.string() }))),
  media_attachments: z.array(z.unknown()),
});
type Post = z.infer<typeof post>;

const ASSET_TYPES = new Map([
  ["image", "image"],
  ["video", "video"],
  ["gifv", "video"],
] as const);
const PUBLIC = new Set(["public", "unlisted"]);

/** Makes an item of each image or video of a public or unlisted post, sensitive ones included. */
export function toItems(
  { media_attachments: attachments, ...rest }: Post,
  { server, origin }: { server: string; origin: string },
): PlatformItem[] {
  if (!PUBLIC.has(rest.visibility ?? "public")) return [];
  const text = htmlToText(rest.content ?? "");
  return parseItems(server, attachment, attachments).flatMap((file) => {
    const assetType = ASSET_TYPES.get(file.type as "image");
    if (!assetType) return [];
    return toPlatformItem({
      platformId: `${new URL(origin).host}/${file.id}`,
      assetType,
      pageUrl: rest.url,
      title: text.split("\n")[0] || `Posted by @${rest.account.acct}`,
      author: rest.account.display_name || rest.account.acct,
      licence: file.license?.url ?? file.license?.title,
      publishedAt: rest.created_at,
      description: text,
      tags: rest.tags?.map(({ name }) => name) ?? [],
      language: rest.language,
      altText: file.description,
      handle: { server, origin, post: rest.id, attachment: file.id },
      unavailable: file.url ? undefined : "The server is still processing it.",
    });
  });
}

/** Returns the URL of an attachment; null if the post doesn't have it. */
export function attachmentUrl({ media_attachments: attachments }: Post, id: string): string | null {
  const files = parseItems("mastodon", attachment, attachments);
  return files.find((file) => file.id === id)?.url ?? null;
}
