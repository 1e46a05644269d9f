import { z } from "zod";
import { optional, toPlatformItem, httpUrl } from "./item.ts";
import type { PlatformItem } from "./platform.ts";

const labelled = optional(z.object({ label: z.string() }));
const numbered = optional(z.object({ id: z.number() }));

/** A video in a list. A single video also has tags and the full description. */
export const listedVideo = z.object({
  uuid: z.string().regex(/^[\w-]{1,64}$/),
  name: z.string(),
  /** URL of its page on its home server. */
  url: httpUrl,
  publishedAt: optional(z.string()),
  licence: labelled,
  language: optional(z.object({ id: z.string() })),
  description: optional(z.string()),
  truncatedDescription: optional(z.string()),
  tags: optional(z.array(z.string())),
  account: optional(z.object({ displayName: z.string() })),
  channel: optional(z.object({ displayName: z.string() })),
  isLive: optional(z.boolean()),
  state: numbered,
  privacy: numbered,
  downloadEnabled: optional(z.boolean()),
});
type ListedVideo = z.infer<typeof listedVideo>;

/** PeerTube's `VideoPrivacy`: public, unlisted. */
const OPEN_PRIVACIES = new Set([1, 2]);
/** PeerTube's `VideoState`: to import, waiting for live, live ended, import failed. */
const STATES_WITHOUT_FILE = new Set([3, 4, 5, 12]);

export function toVideoItem(video: ListedVideo): PlatformItem {
  const { origin, host } = new URL(video.url);
  return toPlatformItem({
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
    unavailable: unavailableReason(video),
  });
}

function unavailableReason({
  isLive,
  state,
  privacy,
  downloadEnabled,
}: ListedVideo): string | undefined {
  if (isLive) return "It is a live stream; its replay is a video of its own.";
  if (privacy && !OPEN_PRIVACIES.has(privacy.id)) return "It is not public.";
  if (state && STATES_WITHOUT_FILE.has(state.id)) return "It isn't published yet.";
  if (downloadEnabled === false) return "Its owner doesn't allow downloads.";
  return undefined;
}
