import { z } from "zod";
import { maybe, platformItem, webUrl } from "./item.ts";
import type { PlatformItem } from "./platform.ts";

const labelled = maybe(z.object({ label: z.string() }));
const numbered = maybe(z.object({ id: z.number() }));

/** A video as lists have it, and, with tags and the whole description, as it is by itself. */
export const listedVideo = z.object({
  uuid: z.string().regex(/^[\w-]{1,64}$/),
  name: z.string(),
  /** On the server that it lives on. */
  url: webUrl,
  publishedAt: maybe(z.string()),
  licence: labelled,
  language: maybe(z.object({ id: z.string() })),
  description: maybe(z.string()),
  truncatedDescription: maybe(z.string()),
  tags: maybe(z.array(z.string())),
  account: maybe(z.object({ displayName: z.string() })),
  channel: maybe(z.object({ displayName: z.string() })),
  isLive: maybe(z.boolean()),
  state: numbered,
  privacy: numbered,
  downloadEnabled: maybe(z.boolean()),
});
type ListedVideo = z.infer<typeof listedVideo>;

/** `VideoPrivacy` of PeerTube: public and unlisted. */
const OPEN = new Set([1, 2]);
/** `VideoState`: to import, waiting for a live, a live that ended, an import that failed. */
const WITHOUT_FILE = new Set([3, 4, 5, 12]);

export function videoItem(video: ListedVideo): PlatformItem {
  const { origin, host } = new URL(video.url);
  return platformItem({
    platformId: `${host}/${video.uuid}`,
    assetType: "video",
    pageUrl: video.url,
    title: video.name,
    author: video.channel?.displayName ?? video.account?.displayName,
    licence: video.licence?.label,
    publishedAt: video.publishedAt,
    description: video.description ?? video.truncatedDescription,
    tags: video.tags ?? [],
    language: video.language?.id,
    handle: { origin, id: video.uuid },
    refused: refusalOf(video),
  });
}

function refusalOf({ isLive, state, privacy, downloadEnabled }: ListedVideo): string | undefined {
  if (isLive) return "It is a live stream; its replay is a video of its own.";
  if (privacy && !OPEN.has(privacy.id)) return "It is not public.";
  if (state && WITHOUT_FILE.has(state.id)) return "It isn't published yet.";
  if (downloadEnabled === false) return "Its owner doesn't allow downloads.";
  return undefined;
}
