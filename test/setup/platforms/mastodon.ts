import type { NumberedItem, PlatformRequest, Route, Scenes } from "./scene.ts";

/** Mastodon's API (docs.joinmastodon.org/methods/accounts), or Pixelfed's of the same form. */
export function mastodonRoute(scenes: Scenes, request: PlatformRequest): Route | undefined {
  const { url, origin, isPixelfed } = request;
  const parameter = (name: string) => url.searchParams.get(name);
  if (url.pathname === "/api/v1/instance") {
    const version = isPixelfed ? "3.5.3 (compatible; Pixelfed 0.12.5)" : "4.4.1";
    return { scene: "", respond: () => ({ uri: new URL(origin).host, version }) };
  }
  if (url.pathname === "/.well-known/webfinger") return webfingerRoute(scenes, request);
  if (url.pathname === "/api/v1/accounts/lookup") {
    const scene = parameter("acct") ?? "";
    return scenes.get(scene) && { scene, respond: () => toAccount(scene, origin) };
  }
  const base = isPixelfed ? "/api/pixelfed/v1" : "/api/v1";
  if (!url.pathname.startsWith(base)) return undefined;
  const rest = url.pathname.slice(base.length);
  const number = /^\/statuses\/(\d+)$/.exec(rest)?.[1];
  const item = number === undefined ? undefined : scenes.byNumber(itemNumber(number));
  if (item) {
    return { scene: item.scene, respond: () => (item.removed ? undefined : toPost(item, request)) };
  }
  const scene = /^\/accounts\/([^/]+)\/statuses$/.exec(rest)?.[1] ?? "";
  if (!scenes.get(scene)) return undefined;
  return {
    scene,
    respond: () => {
      const maxId = parameter("max_id");
      const first = maxId === null ? 0 : firstBelow(scenes, scene, itemNumber(maxId));
      const { items } = scenes.page(scene, first, Number(parameter("limit")));
      return items.map((item) => toPost(item, request));
    },
  };
}

/** Refers the name `moved-<scene>` to the server's other host name. */
function webfingerRoute(scenes: Scenes, { url, origin }: PlatformRequest): Route | undefined {
  const name = /^acct:moved-([^@]+)@/.exec(url.searchParams.get("resource") ?? "")?.[1] ?? "";
  if (!scenes.get(name)) return undefined;
  const href = `${origin.replace("127.0.0.1", "localhost")}/users/${name}`;
  return { scene: name, respond: () => ({ links: [{ rel: "self", href }] }) };
}

function firstBelow(scenes: Scenes, scene: string, number: number): number {
  if (scenes.get(scene)?.endless) return 900_000_000 - number + 1;
  const { items } = scenes.page(scene, 0, 1000);
  return items.filter((item) => item.number >= number).length;
}

function postId(number: number): string {
  return `11${String(number).padStart(12, "0")}`;
}

function itemNumber(id: string): number {
  return Number(id.slice(2));
}

function toAccount(scene: string, origin: string) {
  return { id: scene, acct: scene, display_name: `The ${scene}`, url: `${origin}/@${scene}` };
}

function toPost(item: NumberedItem, { origin, filesOrigin }: PlatformRequest) {
  return {
    ...(!item.malformed && { id: postId(item.number) }),
    url: `${origin}/@${item.scene}/${postId(item.number)}`,
    visibility: "public",
    sensitive: true,
    created_at: "2026-05-04T10:20:30.000Z",
    content: `<p>${item.title ?? `Post ${item.id}`}</p><p>Tea &amp; cake<br>at &#x4e;oon</p>`,
    language: "en",
    account: toAccount(item.scene, origin),
    tags: [{ name: "madeup" }],
    media_attachments: [item.file, ...(item.moreFiles ?? [])].map((file, i) => ({
      id: `${postId(item.number)}${i}`,
      type: item.isVideo ? "gifv" : "image",
      url: `${filesOrigin}/${file}`,
      description: item.altText ?? null,
    })),
    ...item.overrides,
  };
}

/** Builds the `Link` header with the next page, as Mastodon sends it; Pixelfed sends none. */
export function linkHeader(
  body: unknown,
  { url, origin, isPixelfed }: PlatformRequest,
): string | undefined {
  if (isPixelfed || !url.pathname.endsWith("/statuses") || !Array.isArray(body)) return undefined;
  const last: unknown = body.at(-1);
  if (typeof last !== "object" || last === null || !("id" in last)) return undefined;
  const next = `${origin}${url.pathname}?max_id=${String(last.id)}`;
  return `<${next}>; rel="next", <${origin}${url.pathname}?min_id=1>; rel="prev"`;
}
