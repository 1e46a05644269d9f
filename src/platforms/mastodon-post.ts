import { z } from "zod";
import { maybe, platformItem, readItems, webUrl } from "./item.ts";
import { plainText } from "./plain-text.ts";
import type { PlatformItem } from "./platform.ts";

const attachment = z.object({
  id: z.string(),
  type: z.string(),
  url: maybe(webUrl),
  /** Pixelfed. */
  mime: maybe(z.string()),
  license: maybe(z.object({ title: maybe(z.string()), url: maybe(z.string()) })),
  description: maybe(z.string()),
});

export const post = z.object({
  id: z.string(),
  url: webUrl,
  visibility: maybe(z.string()),
  created_at: maybe(z.string()),
  content: maybe(z.string()),
  language: maybe(z.string()),
  account: z.object({ acct: z.string(), display_name: maybe(z.string()) }),
  tags: maybe(z.array(z.object({ name: z.string() }))),
  media_attachments: z.array(z.unknown()),
});
type Post = z.infer<typeof post>;

const ASSET_TYPES = new Map([
  ["image", "image"],
  ["video", "video"],
  ["gifv", "video"],
] as const);
const PUBLIC = new Set(["public", "unlisted"]);

/** One a picture or video of a public post; sensitive ones as well. */
export function itemsOf(
  { media_attachments: attachments, ...one }: Post,
  { server, origin }: { server: string; origin: string },
): PlatformItem[] {
  if (!PUBLIC.has(one.visibility ?? "public")) return [];
  const text = plainText(one.content ?? "");
  return readItems(server, attachment, attachments).flatMap((file) => {
    const assetType = ASSET_TYPES.get(file.type as "image");
    if (!assetType) return [];
    return platformItem({
      platformId: `${new URL(origin).host}/${file.id}`,
      assetType,
      pageUrl: one.url,
      title: text.split("\n")[0] || `Posted by @${one.account.acct}`,
      author: one.account.display_name || one.account.acct,
      licence: file.license?.url ?? file.license?.title,
      publishedAt: one.created_at,
      description: text,
      tags: one.tags?.map(({ name }) => name) ?? [],
      language: one.language,
      altText: file.description,
      handle: { server, origin, post: one.id, attachment: file.id },
      refused: file.url ? undefined : "The server is still working on it.",
    });
  });
}

/** Null where the post has no such attachment. */
export function mediaUrlOf({ media_attachments: attachments }: Post, id: string): string | null {
  const files = readItems("mastodon", attachment, attachments);
  return files.find((file) => file.id === id)?.url ?? null;
}
