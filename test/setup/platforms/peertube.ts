import type { Numbered, Request, Route, Scenes } from "./scene.ts";

/** A PeerTube server: docs.joinpeertube.org/api-rest-reference.html */
export function peertubeRoute(scenes: Scenes, request: Request): Route | undefined {
  const { url } = request;
  const [, kind, id = "", what] =
    /^\/api\/v1\/(videos|video-channels|accounts|video-playlists|search)\/([^/]+)(?:\/(\w+))?$/.exec(
      url.pathname,
    ) ?? [];
  if (kind === "videos") return videoRoute(scenes, request, id, what);
  const scene = kind === "search" ? url.searchParams.get("search") : decodeURIComponent(id);
  if (!kind || !scene || what === "statuses" || !scenes.get(scene)) return undefined;
  if (what !== "videos" && kind !== "search") {
    return { scene, answer: () => ({ displayName: `The ${scene}` }) };
  }
  return {
    scene,
    answer: () => {
      const [start, count] = ["start", "count"].map((name) => Number(url.searchParams.get(name)));
      const { items, total } = scenes.page(scene, start!, count!);
      const videos = items.map((item) => summary(item, request));
      if (kind !== "video-playlists") return { total, data: videos };
      const data = videos.map((video, i) => ({ id: i, position: start! + i + 1, type: 0, video }));
      return { total, data };
    },
  };
}

function videoRoute(
  scenes: Scenes,
  request: Request,
  id: string,
  what: string | undefined,
): Route | undefined {
  const item = scenes.byNumber(Number.parseInt(id.split("-").at(-1)!, 16));
  if (!item) return undefined;
  const answer = () => {
    if (item.removed) return undefined;
    if (what !== "captions") return details(item, request);
    const fileUrl = `${request.filesOrigin}/${item.captions}`;
    const data = item.captions ? [{ language: { id: "en", label: "English" }, fileUrl }] : [];
    return { total: data.length, data };
  };
  return { scene: item.scene, answer };
}

function summary(item: Numbered, { origin }: Request) {
  const uuid = `00000000-0000-4000-8000-${item.number.toString(16).padStart(12, "0")}`;
  return {
    id: item.number,
    ...(!item.broken && { uuid }),
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
    ...item.set,
  };
}

function details(item: Numbered, request: Request) {
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
    ...summary(item, request),
    description: `All about ${item.id}.`,
    tags: ["made up"],
    state: { id: 1, label: "Published" },
    downloadEnabled: true,
    files: [
      file(1, 2160, "long.mp4"),
      file(2, 1080, item.file),
      file(3, 360, "cut.mp4"),
      file(4, 0, "cut.mp4"),
    ],
    streamingPlaylists: [{ id: 1, files: [file(5, 1080, "cut.mp4")] }],
    ...item.set,
  };
}
