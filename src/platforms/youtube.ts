import { z } from "zod";
import { AppError } from "../errors.ts";
import { askChanges, askJson, type Question } from "../fetching/ask.ts";
import type { JsonObject } from "../types.ts";
import { cobaltUrl } from "./cobalt.ts";
import { maybe, notAvailable, readItems, requireFound, UNCHANGED, unsupported } from "./item.ts";
import type { Listing, ListingPage, Platform, PlatformItem } from "./platform.ts";
import { requireSetting, type Settings } from "./settings.ts";
import { type YouTubePlace, youTubePlace } from "./youtube-url.ts";
import { lostItem, type Video, video, videoItem } from "./youtube-video.ts";

const PAGE = 50; // the most

const place = z.object({ kind: z.enum(["video", "playlist", "search"]), id: z.string() });
const token = z.object({ pageToken: z.string() });
const page = z.object({
  items: z.array(z.unknown()).default([]),
  nextPageToken: maybe(z.string()),
});
const member = z.object({
  snippet: z.object({ title: z.string() }),
  contentDetails: z.object({ videoId: z.string() }),
});
const hit = z.object({ id: z.object({ videoId: z.string() }) });
const titled = z.object({ snippet: z.object({ title: z.string() }) });
const channel = titled.extend({
  contentDetails: z.object({ relatedPlaylists: z.object({ uploads: z.string() }) }),
});

/**
 * YouTube's Data API v3 (developers.google.com/youtube/v3/docs) with the operator's key. It serves no
 * media: where `COBALT_URL` isn't set, each item says so. Throws `quota_exceeded`, too.
 */
export const youtube: Platform = {
  name: "youtube",
  kinds: ["url", "playlist", "search"],
  needs: () => ["YOUTUBE_API_KEY"],
  matches: (wanted) => youTubePlace(wanted) !== null,
  resolve: async (env, wanted) => {
    const of = youTubePlace(wanted);
    if (!of) throw unsupported("YouTube", wanted);
    requireSetting(env, "YOUTUBE_API_KEY");
    if (of.kind === "search") return listing(of, `“${of.id}”`, null);
    return requireFound(of.kind, of.kind in CHANNEL_BY ? uploads(env, of) : titledListing(env, of));
  },
  list,
  media: async (env, item) => {
    requireSetting(env, "YOUTUBE_API_KEY");
    const id = z.string().parse(item.handle.id);
    const found = (await videosOf(env, [id])).get(id);
    if (!found) throw new AppError("original_removed", "YouTube has this video no longer.");
    const { refused } = videoItem(found, env.COBALT_URL !== "");
    if (refused) throw new AppError(refused.code, refused.message);
    return { url: await cobaltUrl(env, item.pageUrl), captions: [] };
  },
};

async function list(
  env: Settings,
  { of }: Listing,
  at: JsonObject | null,
  validators: JsonObject | null,
): Promise<ListingPage> {
  const from = place.parse(of);
  const hasResolver = env.COBALT_URL !== "";
  if (from.kind === "video") {
    const found = (await videosOf(env, [from.id])).get(from.id);
    if (!found) throw new AppError("original_removed", "YouTube has this video no longer.");
    const items = [videoItem(found, hasResolver)];
    return { items, next: null, validators: null, unchanged: false };
  }
  const asked = listQuestion(env, from, at && token.parse(at).pageToken);
  // A resolver that came or went changes what can be had of an unchanged list.
  const known = validators?.hasResolver === hasResolver ? validators : null;
  const answer = await askChanges(env, asked, known);
  if (answer === "unchanged") return UNCHANGED;
  const { items, nextPageToken } = answer.value;
  return {
    items: await itemsOf(env, from.kind, items, hasResolver),
    next: nextPageToken ? { pageToken: nextPageToken } : null,
    validators: answer.validators && { ...answer.validators, hasResolver },
    unchanged: false,
  };
}

async function itemsOf(
  env: Settings,
  kind: "playlist" | "search",
  items: unknown[],
  hasResolver: boolean,
): Promise<PlatformItem[]> {
  const members =
    kind === "playlist"
      ? readItems("youtube", member, items).map((one) => ({
          id: one.contentDetails.videoId,
          title: one.snippet.title,
        }))
      : readItems("youtube", hit, items).map(({ id }) => ({ id: id.videoId, title: id.videoId }));
  const videos = await videosOf(
    env,
    members.map(({ id }) => id),
  );
  return members.map(({ id, title }) => {
    const found = videos.get(id);
    return found ? videoItem(found, hasResolver) : lostItem(id, title);
  });
}

/** Those that there are and that aren't private, by their ids; one unit of the quota. */
async function videosOf(env: Settings, ids: string[]): Promise<Map<string, Video>> {
  if (ids.length === 0) return new Map();
  const parameters = { part: "snippet,status", id: ids.join(","), maxResults: String(PAGE) };
  const { items } = await askJson(env, question(env, "videos", parameters));
  return new Map(readItems("youtube", video, items).map((one) => [one.id, one]));
}

const CHANNEL_BY: Record<string, string> = {
  channel: "id",
  handle: "forHandle",
  user: "forUsername",
};

async function uploads(env: Settings, of: YouTubePlace): Promise<Listing> {
  const parameters = { part: "snippet,contentDetails", [CHANNEL_BY[of.kind]!]: of.id };
  const { items } = await askJson(env, question(env, "channels", parameters));
  const [found] = readItems("youtube", channel, items);
  if (!found) throw new AppError("original_removed", "YouTube has no such channel.");
  const id = found.contentDetails.relatedPlaylists.uploads;
  return listing({ kind: "playlist", id }, found.snippet.title, urlOf("playlist", id));
}

async function titledListing(env: Settings, of: YouTubePlace): Promise<Listing> {
  const isVideo = of.kind === "video";
  const parameters = { part: "snippet", id: of.id };
  const { items } = await askJson(env, question(env, isVideo ? "videos" : "playlists", parameters));
  const [found] = readItems("youtube", titled, items);
  if (!found) throw new AppError("original_removed", `YouTube has no such ${of.kind}.`);
  return listing(of, found.snippet.title, urlOf(of.kind, of.id));
}

function urlOf(kind: YouTubePlace["kind"], id: string): string {
  const path = kind === "video" ? "watch?v" : "playlist?list";
  return `https://www.youtube.com/${path}=${id}`;
}

function listing(of: YouTubePlace, title: string, url: string | null): Listing {
  return { platform: "youtube", title, url, of: { ...of } };
}

/** A page of a playlist costs one unit of the quota, one of a search a hundred. */
function listQuestion(
  env: Settings,
  { kind, id }: z.infer<typeof place>,
  pageToken: string | null,
): Question<typeof page> {
  const paging = { maxResults: String(PAGE), ...(pageToken !== null && { pageToken }) };
  return kind === "search"
    ? question(env, "search", { part: "snippet", type: "video", q: id, ...paging })
    : question(env, "playlistItems", {
        part: "snippet,contentDetails",
        playlistId: id,
        ...paging,
      });
}

function question(
  env: Settings,
  method: string,
  parameters: Record<string, string>,
): Question<typeof page> {
  return {
    who: "YouTube",
    url: `${env.YOUTUBE_API_URL}/${method}`,
    query: parameters,
    secrets: { "x-goog-api-key": requireSetting(env, "YOUTUBE_API_KEY") },
    schema: page,
    explain,
  };
}

const problem = z.object({
  error: z.object({ errors: z.array(z.object({ reason: z.string() })).min(1) }),
});

/** developers.google.com/youtube/v3/docs/errors */
function explain(body: unknown): AppError | undefined {
  const parsed = problem.safeParse(body);
  const reason = parsed.data?.error.errors[0]?.reason;
  switch (reason) {
    case "quotaExceeded":
    case "dailyLimitExceeded": {
      const message =
        "The day's quota of YouTube's API is used up; it begins anew at midnight, Pacific time.";
      return new AppError("quota_exceeded", message);
    }
    case "rateLimitExceeded":
    case "userRateLimitExceeded":
      return new AppError("rate_limited", "YouTube was asked too often.", { retryAfter: 60 });
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
      return notAvailable("It is private.");
    default:
      return undefined;
  }
}
