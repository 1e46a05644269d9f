import { z } from "zod";
import { AppError } from "../errors.ts";
import { fetchJsonIfChanged, fetchJson, type JsonRequest } from "../fetching/fetch-json.ts";
import type { JsonObject } from "../types.ts";
import {
  optional,
  mediaNotAvailable,
  readEntries,
  singlePage,
  requireFound,
  UNCHANGED,
  unsupportedRequest,
} from "./item.ts";
import { fetchCaptions, selectFileUrl, videoDetails } from "./peertube-files.ts";
import { listedVideo, toVideoItem } from "./peertube-video.ts";
import type { Listing, ListingPage, Platform, ImportRequest } from "./platform.ts";
import { requireSetting, type Settings } from "./settings.ts";
import { isYouTube } from "./youtube-url.ts";

const PAGE_SIZE = 50;

/** A video or a list on a server. `id` is a handle, a UUID, or the query of a search. */
const peerTubeRef = z.object({
  origin: z.string(),
  kind: z.enum(["video", "playlist", "channel", "account", "search"]),
  id: z.string(),
});
type PeerTubeRef = z.infer<typeof peerTubeRef>;

const pageCursor = z.object({ start: z.int() });
const page = z.object({ total: optional(z.number()), data: z.array(z.unknown()) });
const element = z.object({ video: listedVideo });
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
export const peertube: Platform = {
  name: "peertube",
  kinds: ["url", "playlist", "search"],
  requiredSettings: (kind) => (kind === "search" ? ["PEERTUBE_URL"] : []),
  matches: (request, env) => toPeerTubeRef(request, env) !== null,
  resolve: async (env, request) => {
    if (request.kind === "search") requireSetting(env, "PEERTUBE_URL");
    const ref = toPeerTubeRef(request, env);
    if (!ref) throw unsupportedRequest("PeerTube", request);
    if (ref.kind === "search") return toListing(ref, `“${ref.id}”`, null);
    const title = await requireFound(
      ref.kind,
      fetchJson(env, apiRequest(ref, apiPath(ref), titled)),
    );
    return toListing(ref, title, pageUrl(ref));
  },
  list,
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

async function list(
  env: Settings,
  listing: Listing,
  cursor: JsonObject | null,
  validators: JsonObject | null,
): Promise<ListingPage> {
  const ref = peerTubeRef.parse(listing.ref);
  if (ref.kind === "video") {
    const response = await fetchJsonIfChanged(
      env,
      apiRequest(ref, apiPath(ref), listedVideo),
      validators,
    );
    if (response === "unchanged") return UNCHANGED;
    return singlePage([toVideoItem(response.value)], response.validators);
  }
  const start = cursor ? pageCursor.parse(cursor).start : 0;
  const response = await fetchJsonIfChanged(env, listRequest(ref, start), validators);
  if (response === "unchanged") return UNCHANGED;
  const { total, data } = response.value;
  const end = start + data.length;
  const isLast = data.length === 0 || end >= (total ?? Infinity);
  const next = isLast ? null : { start: end };
  const { values: items, broken } = readEntries("peertube", data, (entry) => {
    const video = ref.kind === "playlist" ? element.parse(entry).video : listedVideo.parse(entry);
    return [toVideoItem(video)];
  });
  return { items, broken, next, validators: response.validators, unchanged: false };
}

function apiRequest<Schema extends z.ZodType>(
  { origin }: PeerTubeRef,
  path: string,
  schema: Schema,
) {
  const serverName = `The PeerTube server ${URL.parse(origin)?.host}`;
  return { serverName, url: origin + path, schema, explain } satisfies JsonRequest<Schema>;
}

function explain(_: unknown, status: number): AppError | undefined {
  if (status !== 401 && status !== 403) return undefined;
  return mediaNotAvailable("It is private, protected by a password, or for logged-in users only.");
}

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
const HANDLE = String.raw`[\w.\-]+(?:@[\w.\-:]+)?`;
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
  for (const [kind, pattern] of URLS) {
    const id = pattern.exec(url.pathname.replace(/\/$/, ""))?.[1];
    if (id && (kind === "video") === (request.kind === "url")) return toHomeRef({ url, kind, id });
  }
  return null;
}

/** Resolves `name@host` to its home server: other servers list only some of its videos. */
function toHomeRef({
  url,
  kind,
  id,
}: {
  url: URL;
  kind: PeerTubeRef["kind"];
  id: string;
}): PeerTubeRef {
  const [name, host] = id.split("@");
  return host
    ? { origin: `${url.protocol}//${host}`, kind, id: name! }
    : { origin: url.origin, kind, id };
}
