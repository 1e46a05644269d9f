import { z } from "zod";
import { optional, toPlatformItem } from "./item.ts";
import type { PlatformItem } from "./platform.ts";

export const video = z.object({
  id: z.string().regex(/^[\w-]{11}$/),
  snippet: z.object({
    title: z.string(),
    description: optional(z.string()),
    channelTitle: optional(z.string()),
    publishedAt: optional(z.string()),
    tags: optional(z.array(z.string())),
    defaultAudioLanguage: optional(z.string()),
    defaultLanguage: optional(z.string()),
    liveBroadcastContent: optional(z.string()),
  }),
  status: optional(
    z.object({
      license: optional(z.string()),
      privacyStatus: optional(z.string()),
      uploadStatus: optional(z.string()),
    }),
  ),
});
export type Video = z.infer<typeof video>;

const LICENCES: Record<string, string> = {
  creativeCommon: "https://creativecommons.org/licenses/by/3.0/",
  youtube: "Standard YouTube License",
};

const WITHOUT_RESOLVER =
  "YouTube's API serves no media, " +
  "and the operator of this service has set no resolver (COBALT_URL).";

export function toVideoItem({ id, snippet, status }: Video, hasResolver: boolean): PlatformItem {
  return toPlatformItem({
    ...videoFields(id),
    title: snippet.title,
    author: snippet.channelTitle,
    licence: LICENCES[status?.license ?? ""],
    publishedAt: snippet.publishedAt,
    description: snippet.description,
    tags: snippet.tags ?? [],
    language: snippet.defaultAudioLanguage ?? snippet.defaultLanguage,
    unavailable:
      unavailableReason({ snippet, status }) ?? (hasResolver ? undefined : WITHOUT_RESOLVER),
  });
}

/** Makes the item of a listed video that the API doesn't return. */
export function toUnavailableItem(id: string, title: string): PlatformItem {
  return toPlatformItem({
    ...videoFields(id),
    title,
    unavailable: "It is private, or was deleted.",
  });
}

function videoFields(id: string) {
  const pageUrl = `https://www.youtube.com/watch?v=${id}`;
  return { platformId: id, assetType: "video", pageUrl, handle: { id } } as const;
}

function unavailableReason({
  snippet,
  status,
}: Pick<Video, "snippet" | "status">): string | undefined {
  const live = snippet.liveBroadcastContent ?? "none";
  if (live !== "none") return "It is a live stream that hasn't ended, or begun.";
  if (status?.privacyStatus === "private") return "It is private.";
  if ((status?.uploadStatus ?? "processed") !== "processed") return "It isn't published yet.";
  return undefined;
}
