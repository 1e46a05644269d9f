import type { Numbered, Request, Route, Scenes } from "./scene.ts";

/** YouTube's Data API v3 under `/youtube` (developers.google.com/youtube/v3/docs), and cobalt under `/cobalt`. */
export function youtubeRoute(scenes: Scenes, request: Request): Route | undefined {
  const { url } = request;
  if (url.pathname === "/cobalt/") return cobaltRoute(scenes, request);
  const method = /^\/youtube\/(\w+)$/.exec(url.pathname)?.[1];
  const parameter = (name: string) => url.searchParams.get(name) ?? "";
  if (method === "videos") return videosRoute(scenes, parameter("id").split(","));
  const scene =
    parameter("q") ||
    sceneOf(parameter("playlistId") || parameter("id")) ||
    parameter("forHandle").slice(1) ||
    parameter("forUsername");
  if (!method) return undefined;
  if (!scenes.get(scene)) return { scene, answer: () => ({ items: [] }) };
  const snippet = { title: `The ${scene}` };
  if (method === "playlists") return { scene, answer: () => ({ items: [{ snippet }] }) };
  if (method === "channels") {
    const contentDetails = { relatedPlaylists: { uploads: playlistOf(scene) } };
    return { scene, answer: () => ({ items: [{ snippet, contentDetails }] }) };
  }
  return {
    scene,
    answer: () => {
      const first = Number(parameter("pageToken") || 0);
      const { items, total } = scenes.page(scene, first, Number(parameter("maxResults")));
      const end = first + items.length;
      return {
        items: items.map((item) => (method === "search" ? hitOf(item) : memberOf(item))),
        pageInfo: { totalResults: total },
        ...(end < total && { nextPageToken: String(end) }),
      };
    },
  };
}

function videosRoute(scenes: Scenes, ids: string[]): Route {
  const found = ids.map((id) => scenes.byNumber(Number(id.slice(2))));
  const shown = found.filter((item) => item !== undefined).filter((item) => !item.removed);
  return { scene: found[0]?.scene ?? "", answer: () => ({ items: shown.map(videoOf) }) };
}

function cobaltRoute(scenes: Scenes, { body, filesOrigin }: Request): Route | undefined {
  const { url } = JSON.parse(body);
  const item = scenes.byNumber(Number(new URL(url).searchParams.get("v")?.slice(2)));
  if (!item) return undefined;
  const answer = { status: "tunnel", url: `${filesOrigin}/${item.file}`, filename: item.file };
  return { scene: item.scene, answer: () => answer };
}

function idOf({ number }: Numbered): string {
  return `yt${String(number).padStart(9, "0")}`;
}

/** Playlists are named for their scenes. */
function playlistOf(scene: string): string {
  return `PL${scene.padEnd(16, "_")}`;
}

function sceneOf(id: string): string {
  return /^PL(.*?)_*$/.exec(id)?.[1] ?? "";
}

function memberOf(item: Numbered) {
  const snippet = { title: item.removed ? "Deleted video" : titleOf(item) };
  return item.broken ? { snippet } : { snippet, contentDetails: { videoId: idOf(item) } };
}

function hitOf(item: Numbered) {
  return { id: { kind: "youtube#video", ...(!item.broken && { videoId: idOf(item) }) } };
}

function titleOf({ title, id }: Numbered): string {
  return title ?? `Video ${id}`;
}

function videoOf(item: Numbered) {
  return {
    id: idOf(item),
    snippet: {
      title: titleOf(item),
      description: `About ${item.id}.`,
      channelTitle: `The ${item.scene}`,
      publishedAt: "2026-05-04T10:20:30Z",
      tags: ["made up"],
      defaultAudioLanguage: "en-GB",
      liveBroadcastContent: "none",
    },
    status: { license: "creativeCommon", privacyStatus: "public", uploadStatus: "processed" },
    ...item.set,
  };
}
