import type { NumberedItem, PlatformRequest, Route, Scenes } from "./scene.ts";

/** PeerTube's API (docs.joinpeertube.org/api-rest-reference.html). */
export function peertubeRoute(scenes: Scenes, request: PlatformRequest): Route | undefined {
  const { url } = request;
  const [, kind, id = "", resource] =
    /^\/api\/v1\/(videos|video-channels|accounts|video-playlists|search)\/([^/]+)(?:\/(\w+))?$/.exec(
      url.pathname,
    ) ?? [];
  if (kind === "videos") return videoRoute(scenes, request, id, resource);
  const scene = kind === "search" ? url.searchParams.get("search") : decodeURIComponent(id);
  if (!kind || !scene || resource === "statuses" || !scenes.get(scene)) return undefined;
  if (resource !== "videos" && kind !== "search") {
    return { scene, respond: () => ({ displayName: `The ${scene}` }) };
  }
  return {
    scene,
    respond: () => {
      const [start, count] = ["start", "count"].map((name) => Number(url.searchParams.get(name)));
      const { items, total } = scenes.page(scene, start!, count!);
      const videos = items.map((item) => toListedVideo(item, request));
      if (kind !== "video-playlists") return { total, data: videos };
      const data = videos.map((video, i) => {
        const element = { id: i, position: start! + i + 1, type: 0, video };
        return Object.assign(element, items[i]!.element);
      });
      return { total, data };
    },
  };
}

function videoRoute(
  scenes: Scenes,
  request: PlatformRequest,
  id: string,
  resource: string | undefined,
): Route | undefined {
  const item = scenes.byNumber(Number.parseInt(id.split("-").at(-1)!, 16));
  if (!item) return undefined;
  const respond = () => {
    if (item.removed) return undefined;
    if (resource !== "captions") return toVideoDetails(item, request);
    const fileUrl = `${request.filesOrigin}/${item.captions}`;
    const data = item.captions ? [{ language: { id: "en", label: "English" }, fileUrl }] : [];
    return { total: data.length, data };
  };
  return { scene: item.scene, respond };
}

function toListedVideo(item: NumberedItem, { origin }: PlatformRequest) {
  const uuid = `00000000-0000-4000-8000-${item.number.toString(16).padStart(12, "0")}`;
  return {
    id: item.number,
    ...(!item.malformed && { uuid }),
    name: item.title ?? `Video ${item.id}`,
    url: `${origin}/videos/watch/${uuid}`,
    publishedAt: "2026-05-04T10:20:30.000Z",
    licence: { id: 1, label: "Attribution" },
    language: { id: "en", label: "English" },
    privacy: { id: 1, label: "Public" },
    truncatedDescription: `About ${item.id}…`,
    description: `About ${item.id}…`,
    isLive: false,
    isLocal: true,
    nsfw: false,
    account: { name: item.scene, displayName: `The ${item.scene}`, host: new URL(origin).host },
    channel: { name: item.scene, displayName: `The ${item.scene}` },
    ...item.overrides,
  };
}

function toVideoDetails(item: NumberedItem, request: PlatformRequest) {
  const { filesOrigin } = request;
  const file = (id: number, resolution: number, name: string) => ({
    id,
    resolution: { id: resolution, label: `${resolution}p` },
    fileUrl: `${filesOrigin}/${name}`,
    fileDownloadUrl: `${filesOrigin}/${name}?download`,
    hasAudio: true,
    hasVideo: true,
  });
  return {
    ...toListedVideo(item, request),
    description: `All about ${item.id}.`,
    tags: ["made up"],
    state: { id: 1, label: "Published" },
    downloadEnabled: true,
    files: [
      file(1, 2160, "long.mp4"),
      file(2, 1080, item.file),
      file(3, 360, "truncated.mp4"),
      file(4, 0, "truncated.mp4"),
    ],
    streamingPlaylists: [{ id: 1, files: [file(5, 1080, "truncated.mp4")] }],
    ...item.overrides,
  };
}
