import type { NumberedItem, PlatformRequest, Route, Scenes } from "./scene.ts";

/** Flickr's API under `/flickr` (flickr.com/services/api). */
export function flickrRoute(
  scenes: Scenes,
  { url, filesOrigin }: PlatformRequest,
): Route | undefined {
  if (url.pathname !== "/flickr") return undefined;
  const parameter = (name: string) => url.searchParams.get(name) ?? "";
  const fail = (code: number) => ({ stat: "fail", code, message: "failed" });
  const scene =
    parameter("username") || parameter("user_id") || /photos\/(.*)\//.exec(parameter("url"))?.[1];
  const responses: Record<string, () => object> = {
    "flickr.photos.licenses.getInfo": () => ({
      licenses: { license: [{ id: 4, name: "Attribution", url: "https://cc.example/by" }] },
    }),
    "flickr.people.findByUsername": () => ({
      user: { nsid: scene, username: { _content: `The ${scene}` } },
    }),
    "flickr.urls.lookupUser": () => ({ user: { id: scene, username: { _content: scene } } }),
    "flickr.people.getPublicPhotos": () => {
      const count = Number(parameter("per_page"));
      const page = Number(parameter("page"));
      const { items, total } = scenes.page(scene!, (page - 1) * count, count);
      return { photos: { page, pages: Math.ceil(total / count), photo: items.map(toFlickrPhoto) } };
    },
  };
  const method = parameter("method");
  if (method === "flickr.photos.getSizes") {
    const item = scenes.byNumber(Number(parameter("photo_id")) - 50_000_000_000);
    const respond = () =>
      item && !item.removed ? { ...toFlickrSizes(item, filesOrigin), stat: "ok" } : fail(1);
    return { scene: item?.scene ?? "", respond };
  }
  if (scene !== undefined && !scenes.get(scene)) return { scene, respond: () => fail(1) };
  return { scene: scene ?? "", respond: () => ({ ...responses[method]?.(), stat: "ok" }) };
}

function toFlickrPhoto(item: NumberedItem) {
  return {
    ...(!item.malformed && { id: String(50_000_000_000 + item.number) }),
    owner: "12345@N00",
    title: item.title ?? `Photo ${item.id}`,
    description: { _content: `About <b>${item.id}</b>` },
    ownername: `The ${item.scene}`,
    license: "4",
    dateupload: "1777890030",
    tags: "made up",
    media: item.isVideo ? "video" : "photo",
    ...item.overrides,
  };
}

function toFlickrSizes(item: NumberedItem, filesOrigin: string) {
  const media = item.isVideo ? "video" : "photo";
  const size = (side: number, source: string) => ({ source, media, width: side, height: side });
  const sizes = [size(75, "x:"), size(2048, `${filesOrigin}/${item.file}`), size(6000, "x:")];
  return { sizes: { candownload: 1, size: sizes, ...item.overrides } };
}

/** Instagram's Business Discovery under `/instagram` (developers.facebook.com, IG User). */
export function instagramRoute(
  scenes: Scenes,
  { url, filesOrigin }: PlatformRequest,
): Route | undefined {
  if (!url.pathname.startsWith("/instagram/")) return undefined;
  const fields = url.searchParams.get("fields") ?? "";
  const scene = /business_discovery\.username\(([^)]*)\)/.exec(fields)?.[1] ?? "";
  if (!scenes.get(scene)) {
    const error = { code: 110, error_subcode: 2_207_013, message: "Cannot find user" };
    return { scene, respond: () => ({ error }) };
  }
  const count = Number(/media\.limit\((\d+)\)/.exec(fields)?.[1] ?? 0);
  const first = Number(/\.after\((\d+)\)/.exec(fields)?.[1] ?? 0);
  const { items, total } = scenes.page(scene, first, count);
  const end = first + items.length;
  const media = {
    data: items.map((item) => toInstagramPost(item, filesOrigin)),
    paging: { cursors: { before: "x", ...(end < total && { after: String(end) }) } },
  };
  const profile = { username: scene, name: `The ${scene}`, ...(count > 0 && { media }) };
  return { scene, respond: () => ({ business_discovery: profile, id: "1" }) };
}

function toInstagramPost(item: NumberedItem, filesOrigin: string) {
  const id = `17${String(item.number).padStart(12, "0")}`;
  const media = (file: string, i: number) => ({
    id: `${id}${i}`,
    media_type: item.isVideo ? "VIDEO" : "IMAGE",
    media_url: `${filesOrigin}/${file}`,
  });
  const files = [item.file, ...(item.moreFiles ?? [])].map(media);
  return {
    ...files[0],
    ...(files.length > 1 && { media_type: "CAROUSEL_ALBUM", children: { data: files } }),
    ...(!item.malformed && { permalink: `https://www.instagram.com/p/${id}/` }),
    caption: `${item.title ?? `Post ${item.id}`}\n#madeup`,
    timestamp: "2026-05-04T10:20:30+0000",
    ...item.overrides,
  };
}
