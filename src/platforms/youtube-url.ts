import { decodeUrlPart } from "./plain-text.ts";
import type { ImportRequest } from "./platform.ts";

/** An object on YouTube by its id, an account by its handle or old name, or a search. */
export type YouTubeRef = {
  kind: "video" | "playlist" | "channel" | "handle" | "user" | "search";
  id: string;
};

const HOSTS = /^(?:(?:www|m|music)\.)?(?:youtube\.com|youtube-nocookie\.com)$|^youtu\.be$/;
const VIDEO = /^[\w-]{11}$/;
const CHANNEL = /^UC[\w-]{22}$/;
const PLAYLIST = /^(?:PL|UU|FL|OL|LL)[\w-]{10,62}$/;
const HANDLE = /^@[\p{L}\p{N}._·-]{3,30}$/u;

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
  const [first = "", second = ""] = decodeUrlPart(url.pathname).split("/").slice(1);
  if (first === "user" && /^[\w-]{1,60}$/.test(second)) return { kind: "user", id: second };
  return listRefFromId(first === "channel" ? second : first);
}

function listRefFromId(id: string): YouTubeRef | null {
  if (PLAYLIST.test(id)) return { kind: "playlist", id };
  if (CHANNEL.test(id)) return { kind: "channel", id };
  return HANDLE.test(id) ? { kind: "handle", id } : null;
}
