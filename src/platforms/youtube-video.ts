import { z } from "zod";
import { maybe, platformItem } from "./item.ts";
import type { PlatformItem } from "./platform.ts";

export const video = z.object({
  id: z.string().regex(/^[\w-]{11}$/),
  snippet: z.object({
    title: z.string(),
    description: maybe(z.string()),
    channelTitle: maybe(z.string()),
    publishedAt: maybe(z.string()),
    tags: maybe(z.array(z.string())),
    defaultAudioLanguage: maybe(z.string()),
    defaultLanguage: maybe(z.string()),
    liveBroadcastContent: maybe(z.string()),
  }),
  status: maybe(
    z.object({
      license: maybe(z.string()),
      privacyStatus: maybe(z.string()),
      uploadStatus: maybe(z.string()),
    }),
  ),
});
export type Video = z.infer<typeof video>;

const LICENCES: Record<string, string> = {
  creativeCommon: "https://creativecommons.org/licenses/by/3.0/",
  youtube: "Standard YouTube License",
};

const WITHOUT_RESOLVER =
  "YouTube's API serves no media, and the operator of this service has set no resolver (COBALT_URL).";

export function videoItem({ id, snippet, status }: Video, hasResolver: boolean): PlatformItem {
  return platformItem({
    ...placeOf(id),
    title: snippet.title,
    author: snippet.channelTitle,
    licence: LICENCES[status?.license ?? ""],
    publishedAt: snippet.publishedAt,
    description: snippet.description,
    tags: snippet.tags ?? [],
    language: snippet.defaultAudioLanguage ?? snippet.defaultLanguage,
    refused: refusalOf({ snippet, status }) ?? (hasResolver ? undefined : WITHOUT_RESOLVER),
  });
}

/** One that a list names and nobody is shown. */
export function lostItem(id: string, title: string): PlatformItem {
  return platformItem({ ...placeOf(id), title, refused: "It is private, or was deleted." });
}

function placeOf(id: string) {
  const pageUrl = `https://www.youtube.com/watch?v=${id}`;
  return { platformId: id, assetType: "video", pageUrl, handle: { id } } as const;
}

function refusalOf({ snippet, status }: Pick<Video, "snippet" | "status">): string | undefined {
  const live = snippet.liveBroadcastContent ?? "none";
  if (live !== "none") return "It is a live stream that hasn't ended, or begun.";
  if (status?.privacyStatus === "private") return "It is private.";
  if ((status?.uploadStatus ?? "processed") !== "processed") return "It isn't published yet.";
  return undefined;
}
