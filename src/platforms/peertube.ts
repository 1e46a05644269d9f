import * as z from "zod";
import { AppError } from "../errors.ts";
import { fetchJson, type JsonRequest } from "../fetching/fetch-json.ts";
import {
  fetchListingPage,
  httpUrl,
  loginRequired,
  mediaNotAvailable,
  optional,
  parseItems,
  requireFound,
  singlePage,
  toLanguageTag,
  toPlatformItem,
  type Captions,
  type ImportRequest,
  type Listing,
  type Platform,
  type PlatformItem,
  type Settings,
} from "./platform.ts";
import { isYouTube } from "./youtube.ts";

const PAGE_SIZE = 50;
/** Maximum height of the video to download, in pixels. Keyframes are smaller. */
const MAX_HEIGHT = 1080;

/** A video or a list on a server. `id` is a handle, a UUID, or the query of a search. */
const peerTubeRef = z.object({
  origin: z.string(),
  kind: z.enum(["video", "playlist", "channel", "account", "search"]),
  id: z.string(),
});
type PeerTubeRef = z.infer<typeof peerTubeRef>;

const labelled = optional(z.object({ label: z.string() }));
const numbered = optional(z.object({ id: z.number() }));

/** A video in a list. A single video also has tags and the full description. */
const listedVideo = z.object({
  uuid: z.string().regex(/^[\w-]{1,64}$/),
  name: z.string(),
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

const file = z.object({
  id: z.int(),
  /** Height in pixels; 0 for audio only. */
  resolution: z.object({ id: z.number() }),
  fileUrl: optional(z.string()),
  fileDownloadUrl: optional(z.string()),
  hasAudio: optional(z.boolean()),
  hasVideo: optional(z.boolean()),
});
type File = z.infer<typeof file>;

const videoDetails = listedVideo.extend({
  files: optional(z.array(z.unknown())),
  streamingPlaylists: optional(z.array(z.object({ files: optional(z.array(z.unknown())) }))),
});

const caption = z.object({
  language: z.object({ id: z.string() }),
  /** PeerTube 7.1 and later. */
  fileUrl: optional(z.string()),
  captionPath: optional(z.string()),
});

const captionList = z.object({ data: z.array(z.unknown()) });

const pageCursor = z.object({ start: z.int() });
const page = z.object({ total: optional(z.number()), data: z.array(z.unknown()) });
/** Without a video, the type says whether it is deleted, private or unavailable. */
const element = z.object({
  id: z.int(),
  type: optional(z.literal([1, 2, 3])),
  video: listedVideo.nullable(),
});
/** Title: the `name` of a video, the `displayName` of a list. */
const titled = z.union([
  z.object({ displayName: z.string() }).transform(({ displayName }) => displayName),
  z.object({ name: z.string() }).transform(({ name }) => name),
]);

/**
 * Any PeerTube server, by its REST API (docs.joinpeertube.org/api-rest-reference.html), without a
 * login. A video is fetched from its home server, because others may lack files and captions. The
 * server at `PEERTUBE_URL` is searched, or a search index there, which has the same API.
 */
export const peertube: Platform<PeerTubeRef> = {
  name: "peertube",
  kinds: ["url", "playlist", "search"],
  requiredSettings: (kind) => (kind === "search" ? ["PEERTUBE_URL"] : []),
  parse: toPeerTubeRef,
  resolve: async (env, ref) => {
    if (ref.kind === "search") return toListing(ref, `“${ref.id}”`, null);
    const title = await requireFound(
      ref.kind,
      fetchJson(env, apiRequest(ref, apiPath(ref), titled)),
    );
    return toListing(ref, title, pageUrl(ref));
  },
  list: async (env, listing, cursor) => {
    const ref = peerTubeRef.parse(listing.ref);
    if (ref.kind === "video") {
      const request = apiRequest(ref, apiPath(ref), listedVideo);
      return singlePage([toVideoItem(await fetchJson(env, request))]);
    }
    const start = cursor ? pageCursor.parse(cursor).start : 0;
    return fetchListingPage(env, "peertube", listRequest(ref, start), ({ value }) => {
      const { total, data } = value;
      const end = start + data.length;
      const isLast = data.length === 0 || end >= (total ?? Infinity);
      const toItems = (entry: unknown) => [
        ref.kind === "playlist"
          ? toElementItem(element.parse(entry), ref)
          : toVideoItem(listedVideo.parse(entry)),
      ];
      return { entries: data, toItems, next: isLast ? null : { start: end } };
    });
  },
  media: async (env, item) => {
    const ref = peerTubeRef.parse({ kind: "video", ...item.handle });
    const video = await fetchJson(env, apiRequest(ref, apiPath(ref), videoDetails));
    const { unavailable } = toVideoItem(video);
    if (unavailable) throw new AppError(unavailable.code, unavailable.message);
    const url = selectFileUrl(video, ref.origin);
    if (!url)
      throw mediaNotAvailable("The server has no file of this video that can be downloaded.");
    return {
      url,
      captions: await fetchCaptions(env, apiRequest(ref, `${apiPath(ref)}/captions`, page)),
    };
  },
};

function apiRequest<Schema extends z.ZodType>(
  { origin }: PeerTubeRef,
  path: string,
  schema: Schema,
) {
  const serverName = `The PeerTube server ${URL.parse(origin)?.host}`;
  return { serverName, url: origin + path, schema, explain } satisfies JsonRequest<Schema>;
}

const explain = loginRequired(
  "It is private, protected by a password, or for logged-in users only.",
);

function toListing(ref: PeerTubeRef, title: string, url: string | null): Listing {
  return { platform: "peertube", title, url, ref: { ...ref } };
}

const API_PATHS = {
  video: "/api/v1/videos",
  playlist: "/api/v1/video-playlists",
  channel: "/api/v1/video-channels",
  account: "/api/v1/accounts",
  search: "/api/v1/search/videos",
} as const;

function apiPath({ kind, id }: PeerTubeRef): string {
  return `${API_PATHS[kind]}/${encodeURIComponent(id)}`;
}

function listRequest(ref: PeerTubeRef, start: number): JsonRequest<typeof page> {
  const path = ref.kind === "search" ? API_PATHS.search : `${apiPath(ref)}/videos`;
  const sort = ref.kind === "search" ? "-match" : "-publishedAt";
  const query = {
    start: String(start),
    count: String(PAGE_SIZE),
    // Playlists keep the order of their owner.
    ...(ref.kind !== "playlist" && { nsfw: "both", sort }),
    ...(ref.kind === "search" && { search: ref.id }),
  };
  return { ...apiRequest(ref, path, page), query };
}

const PAGE_PATHS = { video: "w", playlist: "w/p", channel: "c", account: "a" } as const;

function pageUrl({ kind, origin, id }: PeerTubeRef): string | null {
  return kind === "search" ? null : `${origin}/${PAGE_PATHS[kind]}/${id}`;
}

const ID = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|[1-9A-HJ-NP-Za-km-z]{22}";
const HANDLE = String.raw`[\w.\-]+(?:@[\w.\-:%]+)?`;
const URLS: [PeerTubeRef["kind"], RegExp][] = [
  ["playlist", new RegExp(`^/(?:w/p|videos/watch/playlist|video-playlists/embed)/(${ID})$`)],
  ["video", new RegExp(`^/(?:w|videos/watch|videos/embed)/(${ID}|\\d+)$`)],
  ["channel", new RegExp(`^/(?:c|video-channels)/(${HANDLE})(?:/(?:videos|video-playlists))?$`)],
  ["account", new RegExp(`^/(?:a|accounts)/(${HANDLE})(?:/(?:video-channels|videos))?$`)],
];

function toPeerTubeRef(request: ImportRequest, env: Settings): PeerTubeRef | null {
  const searchOrigin = URL.parse(env.PEERTUBE_URL)?.origin;
  if (request.kind === "search") {
    return searchOrigin ? { origin: searchOrigin, kind: "search", id: request.query } : null;
  }
  if (request.kind === "profile") return null;
  if (request.url === undefined) {
    const id = request.kind === "playlist" ? (request.playlistId ?? "") : "";
    const isId = searchOrigin && new RegExp(`^(?:${ID})$`).test(id);
    return isId ? { origin: searchOrigin, kind: "playlist", id } : null;
  }
  const url = URL.parse(request.url);
  if (!url || !/^https?:$/.test(url.protocol) || isYouTube(url)) return null;
  const path = url.pathname.replace(/;.*/, "").replace(/\/$/, ""); // without a thread of comments
  for (const [kind, pattern] of URLS) {
    const id = pattern.exec(path)?.[1];
    if (!id || (kind === "video") !== (request.kind === "url")) continue;
    // The home server of `name@host`: other servers list only some of its videos.
    const [name, host] = id.split("@");
    const origin = host ? URL.parse(`${url.protocol}//${host}`)?.origin : url.origin;
    return origin ? { origin, kind, id: name! } : null;
  }
  return null;
}

/** PeerTube's `VideoPrivacy`: public, unlisted. */
const OPEN_PRIVACIES = new Set([1, 2]);
/** PeerTube's `VideoState`: to transcode, to import, waiting for live; live ended, failed. */
const [STATES_BEFORE_FILE, STATES_WITHOUT_FILE] = [new Set([2, 3, 4]), new Set([5, 7, 12])];

function toVideoItem(video: z.infer<typeof listedVideo>): PlatformItem {
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

function unavailableReason(video: z.infer<typeof listedVideo>): string | undefined {
  const { isLive, state, privacy, downloadEnabled } = video;
  if (isLive) return "It is a live stream; its replay is a video of its own.";
  if (privacy && !OPEN_PRIVACIES.has(privacy.id)) return "It is not public.";
  if (state && STATES_BEFORE_FILE.has(state.id)) return "It isn't published yet.";
  if (state && STATES_WITHOUT_FILE.has(state.id)) return "It was never published.";
  return downloadEnabled === false ? "Its owner doesn't allow downloads." : undefined;
}

/** Titles of elements without a video, by their type, and why there is none. */
const MISSING = {
  1: ["Deleted video", "It was deleted."],
  2: ["Private video", "It is private."],
  3: ["Unavailable video", "The server doesn't show it: it is blocked, or not published."],
} as const;

function toElementItem({ id, type, video }: z.infer<typeof element>, ref: PeerTubeRef) {
  if (video) return toVideoItem(video);
  const [title, unavailable] = MISSING[type ?? 3];
  return toPlatformItem({
    platformId: `${new URL(ref.origin).host}/${ref.id}/${id}`,
    assetType: "video",
    pageUrl: pageUrl(ref)!,
    title,
    handle: {},
    unavailable,
  });
}

/**
 * Selects the file of a video to download: MP4 first, which is nearly always H.264; then the
 * highest resolution up to `MAX_HEIGHT`, else the lowest; then a web file rather than a fragmented
 * one. If the audio is in a separate file (PeerTube 6.3 and later), returns the URL at which the
 * server muxes both files. A video without pictures has the files of its sound.
 */
function selectFileUrl(video: z.infer<typeof videoDetails>, origin: string): string | null {
  const lists = [video, ...(video.streamingPlaylists ?? [])].map(({ files }) =>
    parseItems("peertube", file, files ?? []),
  );
  const hasPictures = lists.flat().some(hasVideoTrack);
  const candidates = lists.flatMap((files, order) => {
    const audio = files.find((entry) => !hasVideoTrack(entry));
    return files.flatMap((entry) => {
      if (hasVideoTrack(entry) !== hasPictures) return [];
      const url = entry.hasAudio === false && audio ? muxedUrl(entry, audio) : fileUrl(entry);
      return url
        ? { url, isMp4: isMp4(entry), height: heightRank(entry.resolution.id), order }
        : [];
    });
  });
  const [best] = candidates.sort(
    (a, b) => Number(b.isMp4) - Number(a.isMp4) || a.height - b.height || a.order - b.order,
  );
  return best?.url ?? null;

  function muxedUrl(...files: File[]): string {
    const query = new URLSearchParams(
      files.map(({ id }): [string, string] => ["videoFileIds", String(id)]),
    );
    return `${origin}/download/videos/generate/${video.uuid}?${query.toString()}`;
  }
}

/** Ranks heights: from `MAX_HEIGHT` down, then from there up. */
function heightRank(height: number): number {
  return height <= MAX_HEIGHT ? MAX_HEIGHT - height : height;
}

function fileUrl({ fileUrl: url, fileDownloadUrl }: File): string | null {
  return url ?? fileDownloadUrl ?? null;
}

function isMp4(entry: File): boolean {
  return /\.mp4(?:\?|$)/.test(fileUrl(entry) ?? "");
}

function hasVideoTrack({ hasVideo, resolution }: File): boolean {
  return hasVideo !== false && resolution.id > 0;
}

/** Fetches a video's captions. Returns none after a permanent error; throws transient errors. */
async function fetchCaptions(
  env: { FETCH_ALLOW: string },
  request: JsonRequest<z.ZodType>,
): Promise<Captions[]> {
  try {
    const { data } = await fetchJson(env, { ...request, schema: captionList });
    return parseItems("peertube", caption, data).flatMap(({ language, fileUrl, captionPath }) => {
      const url = URL.parse(fileUrl ?? captionPath ?? "", request.url)?.href;
      return url ? [{ url, language: toLanguageTag(language.id) }] : [];
    });
  } catch (error) {
    const isIgnored = error instanceof AppError && IGNORED_ERRORS.has(error.code);
    if (isIgnored) return [];
    throw error;
  }
}

const IGNORED_ERRORS = new Set(["original_removed", "media_not_available", "download_refused"]);
