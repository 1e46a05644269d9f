import type { NumberedItem, PlatformRequest, Route, Scenes } from "./scene.ts";

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
