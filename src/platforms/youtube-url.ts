import { unescaped } from "./plain-text.ts";
import type { Wanted } from "./platform.ts";

/** What of YouTube is meant: an id, or an account by its handle or old name. */
export type YouTubePlace = {
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

/** Null where it is none of YouTube's, or not one that its API can find. */
export function youTubePlace(wanted: Wanted): YouTubePlace | null {
  if (wanted.kind === "profile") return null;
  if (wanted.kind === "search") return { kind: "search", id: wanted.query };
  const url = URL.parse(wanted.url ?? "");
  if (wanted.kind === "url") return url && isYouTube(url) ? videoOf(url) : null;
  if (wanted.url === undefined) return listOf(wanted.playlistId ?? "");
  return url && isYouTube(url) ? listAt(url) : null;
}

/** `watch?v=`, `youtu.be/`, `shorts/`, `embed/`, `live/`, `v/`. */
function videoOf(url: URL): YouTubePlace | null {
  const [first, second] = url.pathname.split("/").slice(1);
  const inPath = url.hostname === "youtu.be" ? first : second;
  const id = url.searchParams.get("v") ?? inPath ?? "";
  const isPath = url.hostname === "youtu.be" || /^(?:watch|shorts|embed|live|v)$/.test(first ?? "");
  return isPath && VIDEO.test(id) ? { kind: "video", id } : null;
}

function listAt(url: URL): YouTubePlace | null {
  const list = url.searchParams.get("list");
  if (list !== null) return listOf(list);
  const [first = "", second = ""] = unescaped(url.pathname).split("/").slice(1);
  if (first === "user" && /^[\w-]{1,60}$/.test(second)) return { kind: "user", id: second };
  return listOf(first === "channel" ? second : first);
}

function listOf(id: string): YouTubePlace | null {
  if (PLAYLIST.test(id)) return { kind: "playlist", id };
  if (CHANNEL.test(id)) return { kind: "channel", id };
  return HANDLE.test(id) ? { kind: "handle", id } : null;
}
