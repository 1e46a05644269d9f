import { z } from "zod";
import { AppError } from "../errors.ts";
import { askChanges, askJson, type Question } from "../fetching/ask.ts";
import type { JsonObject } from "../types.ts";
import { maybe, notAvailable, readItems, requireFound, UNCHANGED, unsupported } from "./item.ts";
import { captionsOf, fileOf, videoDetails } from "./peertube-files.ts";
import { listedVideo, videoItem } from "./peertube-video.ts";
import type { Listing, ListingPage, Platform, PlatformItem, Wanted } from "./platform.ts";
import { requireSetting, type Settings } from "./settings.ts";
import { isYouTube } from "./youtube-url.ts";

const PAGE = 50;

/** What a list is of. `id` is a handle, a UUID or what is searched for. */
const place = z.object({
  origin: z.string(),
  kind: z.enum(["video", "playlist", "channel", "account", "search"]),
  id: z.string(),
});
type Place = z.infer<typeof place>;

const start = z.object({ start: z.int() });
const page = z.object({ total: maybe(z.number()), data: z.array(z.unknown()) });
const element = z.object({ video: listedVideo });
/** Only videos go by their `name`. */
const named = z.union([
  z.object({ displayName: z.string() }).transform(({ displayName }) => displayName),
  z.object({ name: z.string() }).transform(({ name }) => name),
]);

/**
 * Any PeerTube server, by its REST API (docs.joinpeertube.org/api-rest-reference.html), without a login.
 * What lives on another server than the one that lists it is asked for there, where it is whole. The
 * server at `PEERTUBE_URL`, or a search index, which speaks the same API, is searched.
 */
export const peertube: Platform = {
  name: "peertube",
  kinds: ["url", "playlist", "search"],
  needs: (kind) => (kind === "search" ? ["PEERTUBE_URL"] : []),
  matches: (wanted, env) => placeOf(wanted, env) !== null,
  resolve: async (env, wanted) => {
    if (wanted.kind === "search") requireSetting(env, "PEERTUBE_URL");
    const of = placeOf(wanted, env);
    if (!of) throw unsupported("PeerTube", wanted);
    if (of.kind === "search") return listing(of, `“${of.id}”`, null);
    const title = await requireFound(of.kind, askJson(env, question(of, pathOf(of), named)));
    return listing(of, title, pageOf(of));
  },
  list,
  media: async (env, item) => {
    const of = place.parse({ kind: "video", ...item.handle });
    const video = await askJson(env, question(of, pathOf(of), videoDetails));
    const { refused } = videoItem(video);
    if (refused) throw new AppError(refused.code, refused.message);
    const url = fileOf(video, of.origin);
    if (!url) throw notAvailable("The server has no file of this video that can be downloaded.");
    return { url, captions: await captionsOf(env, question(of, `${pathOf(of)}/captions`, page)) };
  },
};

async function list(
  env: Settings,
  { of }: Listing,
  at: JsonObject | null,
  validators: JsonObject | null,
): Promise<ListingPage> {
  const from = place.parse(of);
  if (from.kind === "video") {
    const answer = await askChanges(env, question(from, pathOf(from), listedVideo), validators);
    if (answer === "unchanged") return UNCHANGED;
    const items = [videoItem(answer.value)];
    return { items, next: null, validators: answer.validators, unchanged: false };
  }
  const first = at ? start.parse(at).start : 0;
  const answer = await askChanges(env, listQuestion(from, first), validators);
  if (answer === "unchanged") return UNCHANGED;
  const { total, data } = answer.value;
  const end = first + data.length;
  const isLast = data.length === 0 || end >= (total ?? Infinity);
  const next = isLast ? null : { start: end };
  return { items: itemsOf(from, data), next, validators: answer.validators, unchanged: false };
}

function itemsOf(of: Place, data: unknown[]): PlatformItem[] {
  const videos =
    of.kind === "playlist"
      ? readItems("peertube", element, data).map(({ video }) => video)
      : readItems("peertube", listedVideo, data);
  return videos.map(videoItem);
}

function question<Schema extends z.ZodType>(of: Place, path: string, schema: Schema) {
  const who = `The PeerTube server ${URL.parse(of.origin)?.host}`;
  return { who, url: of.origin + path, schema, explain } satisfies Question<Schema>;
}

function explain(_: unknown, status: number): AppError | undefined {
  if (status !== 401 && status !== 403) return undefined;
  return notAvailable("It is private, protected by a password, or only for who has logged in.");
}

function listing(of: Place, title: string, url: string | null): Listing {
  return { platform: "peertube", title, url, of: { ...of } };
}

const PATHS = {
  video: "/api/v1/videos",
  playlist: "/api/v1/video-playlists",
  channel: "/api/v1/video-channels",
  account: "/api/v1/accounts",
  search: "/api/v1/search/videos",
} as const;

function pathOf({ kind, id }: Place): string {
  return `${PATHS[kind]}/${encodeURIComponent(id)}`;
}

function listQuestion(of: Place, first: number): Question<typeof page> {
  const path = of.kind === "search" ? PATHS.search : `${pathOf(of)}/videos`;
  const sort = of.kind === "search" ? "-match" : "-publishedAt";
  const query = {
    start: String(first),
    count: String(PAGE),
    // A playlist has an order of its own.
    ...(of.kind !== "playlist" && { nsfw: "both", sort }),
    ...(of.kind === "search" && { search: of.id }),
  };
  return { ...question(of, path, page), query };
}

const PAGES = { video: "w", playlist: "w/p", channel: "c", account: "a" } as const;

function pageOf(of: Place): string | null {
  return of.kind === "search" ? null : `${of.origin}/${PAGES[of.kind]}/${of.id}`;
}

const ID = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|[1-9A-HJ-NP-Za-km-z]{22}";
const HANDLE = String.raw`[\w.\-]+(?:@[\w.\-:]+)?`;
const URLS: [Place["kind"], RegExp][] = [
  ["playlist", new RegExp(`^/(?:w/p|videos/watch/playlist|video-playlists/embed)/(${ID})$`)],
  ["video", new RegExp(`^/(?:w|videos/watch|videos/embed)/(${ID}|\\d+)$`)],
  ["channel", new RegExp(`^/(?:c|video-channels)/(${HANDLE})(?:/(?:videos|video-playlists))?$`)],
  ["account", new RegExp(`^/(?:a|accounts)/(${HANDLE})(?:/(?:video-channels|videos))?$`)],
];

function placeOf(wanted: Wanted, env: Settings): Place | null {
  const search = URL.parse(env.PEERTUBE_URL)?.origin;
  if (wanted.kind === "search") {
    return search ? { origin: search, kind: "search", id: wanted.query } : null;
  }
  if (wanted.kind === "profile") return null;
  if (wanted.url === undefined) {
    const id = wanted.kind === "playlist" ? (wanted.playlistId ?? "") : "";
    const isId = search && new RegExp(`^(?:${ID})$`).test(id);
    return isId ? { origin: search, kind: "playlist", id } : null;
  }
  const url = URL.parse(wanted.url);
  if (!url || !/^https?:$/.test(url.protocol) || isYouTube(url)) return null;
  for (const [kind, pattern] of URLS) {
    const id = pattern.exec(url.pathname.replace(/\/$/, ""))?.[1];
    if (id && (kind === "video") === (wanted.kind === "url")) return atHome({ url, kind, id });
  }
  return null;
}

/** `name@host` is asked for at that host: other servers know only part of it. */
function atHome({ url, kind, id }: { url: URL; kind: Place["kind"]; id: string }): Place {
  const [name, host] = id.split("@");
  return host
    ? { origin: `${url.protocol}//${host}`, kind, id: name! }
    : { origin: url.origin, kind, id };
}
