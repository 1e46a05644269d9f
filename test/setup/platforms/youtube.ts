import type { NumberedItem, PlatformRequest, Route, Scenes } from "./scene.ts";

/**
 * YouTube's Data API v3 under `/youtube` (developers.google.com/youtube/v3/docs), and Cobalt under
 * `/cobalt`.
 */
export function youtubeRoute(scenes: Scenes, request: PlatformRequest): Route | undefined {
  const { url } = request;
  if (url.pathname === "/cobalt/") return cobaltRoute(scenes, request);
  const method = /^\/youtube\/(\w+)$/.exec(url.pathname)?.[1];
  const parameter = (name: string) => url.searchParams.get(name) ?? "";
  if (method === "videos") return videosRoute(scenes, parameter("id").split(","));
  const scene =
    parameter("q") ||
    toScene(parameter("playlistId") || parameter("id")) ||
    parameter("forHandle").slice(1) ||
    parameter("forUsername");
  if (!method) return undefined;
  if (!scenes.get(scene)) return { scene, respond: () => ({ items: [] }) };
  const snippet = { title: `The ${scene}` };
  if (method === "playlists") return { scene, respond: () => ({ items: [{ snippet }] }) };
  if (method === "channels") {
    const contentDetails = { relatedPlaylists: { uploads: uploadsId(scene) } };
    return { scene, respond: () => ({ items: [{ snippet, contentDetails }] }) };
  }
  return {
    scene,
    respond: () => {
      const first = Number(parameter("pageToken") || 0);
      const { items, total } = scenes.page(scene, first, Number(parameter("maxResults")));
      const end = first + items.length;
      return {
        items: items.map((item) =>
          method === "search" ? toSearchHit(item) : toPlaylistItem(item),
        ),
        pageInfo: { totalResults: total },
        ...(end < total && { nextPageToken: String(end) }),
      };
    },
  };
}

function videosRoute(scenes: Scenes, ids: string[]): Route {
  const found = ids.map((id) => scenes.byNumber(Number(id.slice(2))));
  const existing = found.filter((item) => item !== undefined).filter((item) => !item.removed);
  return { scene: found[0]?.scene ?? "", respond: () => ({ items: existing.map(toVideo) }) };
}

function cobaltRoute(scenes: Scenes, { body, filesOrigin }: PlatformRequest): Route | undefined {
  const { url } = JSON.parse(body);
  const item = scenes.byNumber(Number(new URL(url).searchParams.get("v")?.slice(2)));
  if (!item) return undefined;
  const media = { status: "tunnel", url: `${filesOrigin}/${item.file}`, filename: item.file };
  return { scene: item.scene, respond: () => media };
}

function videoId({ number }: NumberedItem): string {
  return `yt${String(number).padStart(9, "0")}`;
}

/** Makes the id of a channel's uploads from a scene's name. */
function uploadsId(scene: string): string {
  return `UU${scene.padEnd(16, "_")}`;
}

/** Returns the scene of a playlist, or of a channel's uploads, shorts or streams. */
function toScene(id: string): string {
  return /^(?:PL|UUSH|UULV|UU)(.*?)_*$/.exec(id)?.[1] ?? "";
}

function toPlaylistItem(item: NumberedItem) {
  const snippet = { title: item.removed ? "Deleted video" : videoTitle(item) };
  return item.malformed ? { snippet } : { snippet, contentDetails: { videoId: videoId(item) } };
}

function toSearchHit(item: NumberedItem) {
  return { id: { kind: "youtube#video", ...(!item.malformed && { videoId: videoId(item) }) } };
}

function videoTitle({ title, id }: NumberedItem): string {
  return title ?? `Video ${id}`;
}

function toVideo(item: NumberedItem) {
  return {
    id: videoId(item),
    snippet: {
      title: videoTitle(item),
      description: `About ${item.id}.`,
      channelTitle: `The ${item.scene}`,
      publishedAt: "2026-05-04T10:20:30Z",
      tags: ["made up"],
      defaultAudioLanguage: "en-GB",
      liveBroadcastContent: "none",
    },
    status: { license: "creativeCommon", privacyStatus: "public", uploadStatus: "processed" },
    ...item.overrides,
  };
}
