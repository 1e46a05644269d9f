import { z } from "zod";
import { AppError } from "../errors.ts";
import { fetchJsonIfChanged, fetchJson, type JsonRequest } from "../fetching/fetch-json.ts";
import type { JsonObject } from "../types.ts";
import { resolveMediaUrl } from "./cobalt.ts";
import {
  optional,
  mediaNotAvailable,
  parseItems,
  readEntries,
  singlePage,
  requireFound,
  UNCHANGED,
  unsupportedRequest,
} from "./item.ts";
import type { Listing, ListingPage, Platform } from "./platform.ts";
import { requireSetting, type Settings } from "./settings.ts";
import { type YouTubeRef, toYouTubeRef } from "./youtube-url.ts";
import { toUnavailableItem, type Video, video, toVideoItem } from "./youtube-video.ts";

const PAGE_SIZE = 50; // maximum of the API

const listRef = z.object({ kind: z.enum(["video", "playlist", "search"]), id: z.string() });
const pageCursor = z.object({ pageToken: z.string() });
const page = z.object({
  items: z.array(z.unknown()).default([]),
  nextPageToken: optional(z.string()),
});
const member = z.object({
  snippet: z.object({ title: z.string() }),
  contentDetails: z.object({ videoId: z.string() }),
});
const searchHit = z.object({ id: z.object({ videoId: z.string() }) });
const titled = z.object({ snippet: z.object({ title: z.string() }) });
const channel = titled.extend({
  contentDetails: z.object({ relatedPlaylists: z.object({ uploads: z.string() }) }),
});

/**
 * YouTube's Data API v3 (developers.google.com/youtube/v3/docs) with the operator's key. The API
 * serves no media: without `COBALT_URL`, every item is unavailable. Also throws
 * `platform_quota_exceeded`.
 */
export const youtube: Platform = {
  name: "youtube",
  kinds: ["url", "playlist", "search"],
  requiredSettings: () => ["YOUTUBE_API_KEY"],
  matches: (request) => toYouTubeRef(request) !== null,
  resolve: async (env, request) => {
    const ref = toYouTubeRef(request);
    if (!ref) throw unsupportedRequest("YouTube", request);
    requireSetting(env, "YOUTUBE_API_KEY");
    if (ref.kind === "search") return toListing(ref, `“${ref.id}”`, null);
    return requireFound(
      ref.kind,
      ref.kind in CHANNEL_PARAMETERS ? uploadsListing(env, ref) : titledListing(env, ref),
    );
  },
  list,
  media: async (env, item) => {
    requireSetting(env, "YOUTUBE_API_KEY");
    const id = z.string().parse(item.handle.id);
    const apiVideo = (await fetchVideos(env, [id])).get(id);
    if (!apiVideo) throw new AppError("original_removed", "YouTube has this video no longer.");
    const { unavailable } = toVideoItem(apiVideo, env.COBALT_URL !== "");
    if (unavailable) throw new AppError(unavailable.code, unavailable.message);
    return { url: await resolveMediaUrl(env, item.pageUrl), captions: [] };
  },
};

async function list(
  env: Settings,
  listing: Listing,
  cursor: JsonObject | null,
  validators: JsonObject | null,
): Promise<ListingPage> {
  const ref = listRef.parse(listing.ref);
  const hasResolver = env.COBALT_URL !== "";
  if (ref.kind === "video") {
    const apiVideo = (await fetchVideos(env, [ref.id])).get(ref.id);
    if (!apiVideo) throw new AppError("original_removed", "YouTube has this video no longer.");
    return singlePage([toVideoItem(apiVideo, hasResolver)]);
  }
  const request = listRequest(env, ref, cursor && pageCursor.parse(cursor).pageToken);
  // Adding or removing the resolver changes the items of an unchanged list.
  const usableValidators = validators?.hasResolver === hasResolver ? validators : null;
  const response = await fetchJsonIfChanged(env, request, usableValidators);
  if (response === "unchanged") return UNCHANGED;
  const { items, nextPageToken } = response.value;
  return {
    ...(await fetchItems(env, ref.kind, items, hasResolver)),
    next: nextPageToken ? { pageToken: nextPageToken } : null,
    validators: response.validators && { ...response.validators, hasResolver },
    unchanged: false,
  };
}

async function fetchItems(
  env: Settings,
  kind: "playlist" | "search",
  items: unknown[],
  hasResolver: boolean,
): Promise<Pick<ListingPage, "items" | "broken">> {
  const { values: members, broken } = readEntries("youtube", items, (entry) => {
    if (kind === "search") {
      const { videoId: id } = searchHit.parse(entry).id;
      return [{ id, title: id }];
    }
    const { contentDetails, snippet } = member.parse(entry);
    return [{ id: contentDetails.videoId, title: snippet.title }];
  });
  const videos = await fetchVideos(
    env,
    members.map(({ id }) => id),
  );
  const found = members.map(({ id, title }) => {
    const apiVideo = videos.get(id);
    return apiVideo ? toVideoItem(apiVideo, hasResolver) : toUnavailableItem(id, title);
  });
  return { items: found, broken };
}

/** Fetches up to `PAGE_SIZE` videos by id; omits deleted and private ones. One quota unit. */
async function fetchVideos(env: Settings, ids: string[]): Promise<Map<string, Video>> {
  if (ids.length === 0) return new Map();
  const parameters = { part: "snippet,status", id: ids.join(","), maxResults: String(PAGE_SIZE) };
  const { items } = await fetchJson(env, apiRequest(env, "videos", parameters));
  return new Map(parseItems("youtube", video, items).map((entry) => [entry.id, entry]));
}

const CHANNEL_PARAMETERS: Record<string, string> = {
  channel: "id",
  handle: "forHandle",
  user: "forUsername",
};

async function uploadsListing(env: Settings, ref: YouTubeRef): Promise<Listing> {
  const parameters = { part: "snippet,contentDetails", [CHANNEL_PARAMETERS[ref.kind]!]: ref.id };
  const { items } = await fetchJson(env, apiRequest(env, "channels", parameters));
  const [apiChannel] = parseItems("youtube", channel, items);
  if (!apiChannel) throw new AppError("original_removed", "YouTube has no such channel.");
  const id = apiChannel.contentDetails.relatedPlaylists.uploads;
  return toListing({ kind: "playlist", id }, apiChannel.snippet.title, urlOf("playlist", id));
}

async function titledListing(env: Settings, ref: YouTubeRef): Promise<Listing> {
  const isVideo = ref.kind === "video";
  const parameters = { part: "snippet", id: ref.id };
  const { items } = await fetchJson(
    env,
    apiRequest(env, isVideo ? "videos" : "playlists", parameters),
  );
  const [resource] = parseItems("youtube", titled, items);
  if (!resource) throw new AppError("original_removed", `YouTube has no such ${ref.kind}.`);
  return toListing(ref, resource.snippet.title, urlOf(ref.kind, ref.id));
}

function urlOf(kind: YouTubeRef["kind"], id: string): string {
  const path = kind === "video" ? "watch?v" : "playlist?list";
  return `https://www.youtube.com/${path}=${id}`;
}

function toListing(ref: YouTubeRef, title: string, url: string | null): Listing {
  return { platform: "youtube", title, url, ref: { ...ref } };
}

/** Makes the request for a page. Costs one quota unit for a playlist, a hundred for a search. */
function listRequest(
  env: Settings,
  { kind, id }: z.infer<typeof listRef>,
  pageToken: string | null,
): JsonRequest<typeof page> {
  const paging = { maxResults: String(PAGE_SIZE), ...(pageToken !== null && { pageToken }) };
  return kind === "search"
    ? apiRequest(env, "search", { part: "snippet", type: "video", q: id, ...paging })
    : apiRequest(env, "playlistItems", {
        part: "snippet,contentDetails",
        playlistId: id,
        ...paging,
      });
}

function apiRequest(
  env: Settings,
  method: string,
  parameters: Record<string, string>,
): JsonRequest<typeof page> {
  return {
    serverName: "YouTube",
    url: `${env.YOUTUBE_API_URL}/${method}`,
    query: parameters,
    secrets: { "x-goog-api-key": requireSetting(env, "YOUTUBE_API_KEY") },
    schema: page,
    explain,
  };
}

const errorResponse = z.object({
  error: z.object({ errors: z.array(z.object({ reason: z.string() })).min(1) }),
});

/** Maps error reasons (developers.google.com/youtube/v3/docs/errors). */
function explain(body: unknown): AppError | undefined {
  const parsed = errorResponse.safeParse(body);
  const reason = parsed.data?.error.errors[0]?.reason;
  switch (reason) {
    case "quotaExceeded":
    case "dailyLimitExceeded": {
      const message =
        "The daily quota of YouTube's API is used up; it resets at midnight, Pacific time.";
      return new AppError("platform_quota_exceeded", message);
    }
    case "rateLimitExceeded":
    case "userRateLimitExceeded":
      return new AppError("rate_limited", "YouTube got too many requests.", { retryAfter: 60 });
    case "keyInvalid":
    case "keyExpired":
    case "badRequest":
    case "accessNotConfigured":
    case "ipRefererBlocked": {
      const message = `YouTube doesn't take the key that YOUTUBE_API_KEY holds (${reason}).`;
      return new AppError("platform_not_configured", message);
    }
    case "playlistItemsNotAccessible":
    case "channelForbidden":
    case "playlistForbidden":
      return mediaNotAvailable("It is private.");
    default:
      return undefined;
  }
}
