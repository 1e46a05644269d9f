import * as z from "zod";
import { AppError } from "../errors.ts";
import { fetchJson, type JsonRequest } from "../fetching/fetch-json.ts";
import {
  mediaNotAvailable,
  optional,
  parseItems,
  readEntries,
  requireFound,
  singlePage,
  toPlatformItem,
  type ImportRequest,
  type Listing,
  type Platform,
  type PlatformItem,
  requireSetting,
  type Settings,
} from "./platform.ts";

const PAGE_SIZE = 50; // maximum of the API

const listRef = z.object({ kind: z.enum(["video", "playlist", "search"]), id: z.string() });
const video = z.object({
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
type Video = z.infer<typeof video>;

const pageCursor = z.object({ pageToken: z.string() });
const page = z.object({
  items: z.array(z.unknown()).default([]),
  nextPageToken: optional(z.string()),
});
const titled = z.object({ snippet: z.object({ title: z.string() }) });
const videoId = z.object({ videoId: z.string() });
const listedVideo = z.union([
  titled.extend({ contentDetails: videoId }).transform(({ contentDetails, snippet }) => ({
    id: contentDetails.videoId,
    title: snippet.title,
  })),
  z.object({ id: videoId }).transform(({ id }) => ({ id: id.videoId, title: id.videoId })),
]);
const channel = titled.extend({
  contentDetails: z.object({ relatedPlaylists: z.object({ uploads: z.string() }) }),
});

/**
 * YouTube's Data API v3 (developers.google.com/youtube/v3/docs) with the operator's key. The API
 * serves no media: without `COBALT_URL`, every item is unavailable. Also throws
 * `platform_quota_exceeded`.
 */
export const youtube: Platform<YouTubeRef> = {
  name: "youtube",
  kinds: ["url", "playlist", "search"],
  requiredSettings: () => ["YOUTUBE_API_KEY"],
  parse: toYouTubeRef,
  resolve: async (env, ref) => {
    if (ref.kind === "search") return toListing(ref, `“${ref.id}”`, null);
    return requireFound(ref.kind, fetchListing(env, ref));
  },
  list: async (env, listing, cursor) => {
    const ref = listRef.parse(listing.ref);
    const hasResolver = env.COBALT_URL !== "";
    if (ref.kind === "video") {
      return singlePage([toVideoItem(await fetchVideo(env, ref.id), hasResolver)]);
    }
    const request = listRequest(env, ref, cursor && pageCursor.parse(cursor).pageToken);
    const { items: entries, nextPageToken } = await fetchJson(env, request);
    const { values: listed, broken } = readEntries("youtube", entries, (entry) => [
      listedVideo.parse(entry),
    ]);
    const ids = listed.map(({ id }) => id);
    const videos = await fetchVideos(env, ids);
    const items = listed.map(({ id, title }) => {
      const apiVideo = videos.get(id);
      if (apiVideo) return toVideoItem(apiVideo, hasResolver);
      const unavailable = "It is private, or was deleted.";
      return toPlatformItem({ ...videoFields(id), title, unavailable });
    });
    return { items, broken, next: nextPageToken ? { pageToken: nextPageToken } : null };
  },
  media: async (env, item) => {
    const apiVideo = await fetchVideo(env, z.string().parse(item.handle.id));
    const { unavailable } = toVideoItem(apiVideo, env.COBALT_URL !== "");
    if (unavailable) throw new AppError(unavailable.code, unavailable.message);
    return { url: await resolveMediaUrl(env, item.pageUrl), captions: [] };
  },
};

/** Fetches up to `PAGE_SIZE` videos by id; omits deleted and private ones. One quota unit. */
async function fetchVideos(env: Settings, ids: string[]): Promise<Map<string, Video>> {
  if (ids.length === 0) return new Map();
  const parameters = { part: "snippet,status", id: ids.join(","), maxResults: String(PAGE_SIZE) };
  const { items } = await fetchJson(env, apiRequest(env, "videos", parameters));
  return new Map(parseItems("youtube", video, items).map((entry) => [entry.id, entry]));
}

async function fetchVideo(env: Settings, id: string): Promise<Video> {
  const apiVideo = (await fetchVideos(env, [id])).get(id);
  if (!apiVideo) throw new AppError("original_removed", "YouTube has this video no longer.");
  return apiVideo;
}

const CHANNEL_PARAMETERS: Record<string, string> = {
  channel: "id",
  handle: "forHandle",
  user: "forUsername",
};

async function fetchListing(env: Settings, ref: YouTubeRef): Promise<Listing> {
  const parameter = CHANNEL_PARAMETERS[ref.kind];
  if (parameter) {
    const parameters = { part: "snippet,contentDetails", [parameter]: ref.id };
    const { snippet, contentDetails } = await fetchFirst(env, "channels", parameters, channel);
    const id = contentDetails.relatedPlaylists.uploads.replace(/^UU/, ref.prefix ?? "UU");
    return toListing({ kind: "playlist", id }, snippet.title, urlOf("playlist", id));
  }
  const parameters = { part: "snippet", id: ref.id };
  const { snippet } = await fetchFirst(env, `${ref.kind}s`, parameters, titled);
  return toListing(ref, snippet.title, urlOf(ref.kind, ref.id));
}

async function fetchFirst<Schema extends z.ZodType>(
  env: Settings,
  method: string,
  parameters: Record<string, string>,
  schema: Schema,
): Promise<z.output<Schema>> {
  const { items } = await fetchJson(env, apiRequest(env, method, parameters));
  const [resource] = parseItems("youtube", schema, items);
  if (!resource) throw new AppError("original_removed", "YouTube has no such thing.");
  return resource;
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
  const reason = errorResponse.safeParse(body).data?.error.errors[0]?.reason ?? "";
  if (/^(?:quota|dailyLimit)Exceeded$/.test(reason)) {
    const message =
      "The daily quota of YouTube's API is used up; it resets at midnight, Pacific time.";
    return new AppError("platform_quota_exceeded", message);
  }
  if (/^(?:r|userR)ateLimitExceeded$/.test(reason)) {
    return new AppError("rate_limited", "YouTube got too many requests.", { retryAfter: 60 });
  }
  if (/^(?:key(?:Invalid|Expired)|badRequest|accessNotConfigured|ipRefererBlocked)$/.test(reason)) {
    const message = `YouTube doesn't take the key that YOUTUBE_API_KEY holds (${reason}).`;
    return new AppError("platform_not_configured", message);
  }
  const isPrivate = /^(?:playlistItemsNotAccessible|(?:channel|playlist)Forbidden)$/.test(reason);
  return isPrivate ? mediaNotAvailable("It is private.") : undefined;
}

const LICENCES: Record<string, string> = {
  creativeCommon: "https://creativecommons.org/licenses/by/3.0/",
  youtube: "Standard YouTube License",
};

const WITHOUT_RESOLVER =
  "YouTube's API serves no media, and the operator of this service has set no resolver (COBALT_URL).";

function toVideoItem({ id, snippet, status }: Video, hasResolver: boolean): PlatformItem {
  return toPlatformItem({
    ...videoFields(id),
    unavailable:
      unavailableReason({ snippet, status }) ?? (hasResolver ? undefined : WITHOUT_RESOLVER),
    title: snippet.title,
    author: snippet.channelTitle,
    licence: LICENCES[status?.license ?? ""],
    publishedAt: snippet.publishedAt,
    description: snippet.description,
    tags: snippet.tags ?? [],
    language: snippet.defaultAudioLanguage ?? snippet.defaultLanguage,
  });
}

function videoFields(id: string) {
  const pageUrl = `https://www.youtube.com/watch?v=${id}`;
  return { platformId: id, assetType: "video", pageUrl, handle: { id } } as const;
}

function unavailableReason({ snippet, status }: Omit<Video, "id">): string | undefined {
  const live = snippet.liveBroadcastContent ?? "none";
  if (live !== "none") return "It is a live stream that hasn't ended, or begun.";
  if (status?.privacyStatus === "private") return "It is private.";
  const upload = status?.uploadStatus ?? "processed";
  if (upload === "uploaded") return "It isn't published yet.";
  return upload === "processed" ? undefined : `YouTube doesn't show it: ${upload}.`;
}

/** An object on YouTube by its id, an account by its handle or old name, or a search. */
type YouTubeRef = {
  kind: "video" | "playlist" | "channel" | "handle" | "user" | "search";
  id: string;
  /** What the playlist of a channel's uploads begins with, or that of one of its tabs. */
  prefix?: string;
};

const HOSTS = /^(?:(?:www|m|music)\.)?(?:youtube\.com|youtube-nocookie\.com)$|^youtu\.be$/;
const VIDEO = /^[\w-]{11}$/;
const CHANNEL = /^UC[\w-]{22}$/;
const PLAYLIST = /^(?:PL|UU|FL|OL|LL)[\w-]{10,62}$/;
const HANDLE = /^@[\p{L}\p{M}\p{N}._·-]{1,30}$/u;
/** Tabs of a channel that have a playlist of their own, and those that list playlists. */
const TAB_PREFIXES: Readonly<Record<string, string>> = { shorts: "UUSH", streams: "UULV" };
const PLAYLIST_TABS = /^(?:playlists|podcasts|releases|courses)$/;

export function isYouTube(url: URL): boolean {
  return HOSTS.test(url.hostname);
}

/** Parses a request. Returns null for other sites, and for URLs that the API can't look up. */
export function toYouTubeRef(request: ImportRequest): YouTubeRef | null {
  if (request.kind === "profile") return null;
  if (request.kind === "search") return { kind: "search", id: request.query };
  const url = URL.parse(request.url ?? "");
  if (request.kind === "url") return url && isYouTube(url) ? toVideoRef(url) : null;
  if (request.url === undefined) return listRefFromId(request.playlistId ?? "");
  return url && isYouTube(url) ? toListRef(url) : null;
}

/** Parses the URL paths `watch?v=`, `youtu.be/`, `shorts/`, `embed/`, `live/` and `v/`. */
function toVideoRef(url: URL): YouTubeRef | null {
  const [first, second] = url.pathname.split("/").slice(1);
  const inPath = url.hostname === "youtu.be" ? first : second;
  const id = url.searchParams.get("v") ?? inPath ?? "";
  const isPath = url.hostname === "youtu.be" || /^(?:watch|shorts|embed|live|v)$/.test(first ?? "");
  return isPath && VIDEO.test(id) ? { kind: "video", id } : null;
}

function toListRef(url: URL): YouTubeRef | null {
  const list = url.searchParams.get("list");
  if (list !== null) return listRefFromId(list);
  const path = decodePath(url).split("/").slice(1);
  const isNamed = path[0] === "user" || path[0] === "channel";
  const [id = "", tab = ""] = isNamed ? path.slice(1) : path;
  if (PLAYLIST_TABS.test(tab)) return null;
  const isUser = path[0] === "user" && /^[\w-]{1,60}$/.test(id);
  const ref: YouTubeRef | null = isUser ? { kind: "user", id } : listRefFromId(id);
  return ref && { ...ref, ...(TAB_PREFIXES[tab] && { prefix: TAB_PREFIXES[tab] }) };
}

/** Decodes percent encoding. Returns the path unchanged if the encoding is malformed. */
function decodePath({ pathname }: URL): string {
  try {
    return decodeURIComponent(pathname);
  } catch {
    return pathname;
  }
}

function listRefFromId(id: string): YouTubeRef | null {
  if (PLAYLIST.test(id)) return { kind: "playlist", id };
  if (CHANNEL.test(id)) return { kind: "channel", id };
  return HANDLE.test(id) ? { kind: "handle", id } : null;
}

const mediaResponse = z.object({ status: z.enum(["tunnel", "redirect"]), url: z.string() });
const resolverError = z.object({
  status: z.literal("error"),
  error: z.object({ code: z.string() }),
});

/**
 * Requests the file URL of a video's page from the resolver at `COBALT_URL` (Cobalt 10 or 11,
 * github.com/imputnet/cobalt/blob/main/docs/api.md). Throws `media_not_available` with the
 * resolver's reason, `rate_limited`, `upstream_failed`, and `platform_not_configured` if the
 * resolver rejects the key.
 */
async function resolveMediaUrl(env: Settings, pageUrl: string): Promise<string> {
  const key = env.COBALT_KEY;
  const { url } = await fetchJson(env, {
    serverName: "The resolver at COBALT_URL",
    url: env.COBALT_URL,
    body: { url: pageUrl, videoQuality: "1080", youtubeVideoCodec: "h264" },
    ...(key && { secrets: { authorization: `Api-Key ${key}` } }),
    schema: mediaResponse,
    explain: explainResolver,
  });
  return url;
}

function explainResolver(body: unknown): AppError | undefined {
  const { data } = resolverError.safeParse(body);
  if (!data) return undefined;
  const { code } = data.error;
  if (code.includes("api.auth.")) {
    const message = `The resolver at COBALT_URL doesn't take COBALT_KEY (${code}).`;
    return new AppError("platform_not_configured", message);
  }
  if (/rate_exceeded|fetch\.rate/.test(code)) {
    const message = "The resolver at COBALT_URL got too many requests.";
    return new AppError("rate_limited", message, { retryAfter: 60 });
  }
  if (/fetch\.(?:fail|critical)|unreachable|timed_out|generic/.test(code)) {
    return new AppError("upstream_failed", `The resolver at COBALT_URL failed (${code}).`);
  }
  return mediaNotAvailable(`The resolver at COBALT_URL can't get it (${code}).`);
}
