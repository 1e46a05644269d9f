import type { Numbered, Request, Route, Scenes } from "./scene.ts";

/** A server of Mastodon's API (docs.joinmastodon.org/methods/accounts), or of Pixelfed's, in its form. */
export function mastodonRoute(scenes: Scenes, request: Request): Route | undefined {
  const { url, origin, isPixelfed } = request;
  const parameter = (name: string) => url.searchParams.get(name);
  if (url.pathname === "/api/v1/instance") {
    const version = isPixelfed ? "3.5.3 (compatible; Pixelfed 0.12.5)" : "4.4.1";
    return { scene: "", answer: () => ({ uri: new URL(origin).host, version }) };
  }
  if (url.pathname === "/.well-known/webfinger") return webfingerRoute(scenes, request);
  if (url.pathname === "/api/v1/accounts/lookup") {
    const scene = parameter("acct") ?? "";
    return scenes.get(scene) && { scene, answer: () => accountOf(scene, origin) };
  }
  const base = isPixelfed ? "/api/pixelfed/v1" : "/api/v1";
  if (!url.pathname.startsWith(base)) return undefined;
  const rest = url.pathname.slice(base.length);
  const number = /^\/statuses\/(\d+)$/.exec(rest)?.[1];
  const item = number === undefined ? undefined : scenes.byNumber(numberOf(number));
  if (item) {
    return { scene: item.scene, answer: () => (item.removed ? undefined : postOf(item, request)) };
  }
  const scene = /^\/accounts\/([^/]+)\/statuses$/.exec(rest)?.[1] ?? "";
  if (!scenes.get(scene)) return undefined;
  return {
    scene,
    answer: () => {
      const maxId = parameter("max_id");
      const first = maxId === null ? 0 : firstBelow(scenes, scene, numberOf(maxId));
      const { items } = scenes.page(scene, first, Number(parameter("limit")));
      return items.map((one) => postOf(one, request));
    },
  };
}

/** `moved-<scene>` is a name whose account is at the server's other name. */
function webfingerRoute(scenes: Scenes, { url, origin }: Request): Route | undefined {
  const name = /^acct:moved-([^@]+)@/.exec(url.searchParams.get("resource") ?? "")?.[1] ?? "";
  if (!scenes.get(name)) return undefined;
  const href = `${origin.replace("127.0.0.1", "localhost")}/users/${name}`;
  return { scene: name, answer: () => ({ links: [{ rel: "self", href }] }) };
}

function firstBelow(scenes: Scenes, scene: string, number: number): number {
  if (scenes.get(scene)?.endless) return 900_000_000 - number + 1;
  const { items } = scenes.page(scene, 0, 1000);
  return items.filter((item) => item.number >= number).length;
}

function idOf(number: number): string {
  return `11${String(number).padStart(12, "0")}`;
}

function numberOf(id: string): number {
  return Number(id.slice(2));
}

function accountOf(scene: string, origin: string) {
  return { id: scene, acct: scene, display_name: `The ${scene}`, url: `${origin}/@${scene}` };
}

function postOf(item: Numbered, { origin, filesOrigin }: Request) {
  return {
    ...(!item.broken && { id: idOf(item.number) }),
    url: `${origin}/@${item.scene}/${idOf(item.number)}`,
    visibility: "public",
    sensitive: true,
    created_at: "2026-05-04T10:20:30.000Z",
    content: `<p>${item.title ?? `Post ${item.id}`}</p><p>Tea &amp; cake<br>at &#x4e;oon</p>`,
    language: "en",
    account: accountOf(item.scene, origin),
    tags: [{ name: "madeup" }],
    media_attachments: [item.file, ...(item.more ?? [])].map((file, i) => ({
      id: `${idOf(item.number)}${i}`,
      type: item.isVideo ? "gifv" : "image",
      url: `${filesOrigin}/${file}`,
      description: item.alt ?? null,
    })),
    ...item.set,
  };
}

/** As Mastodon says where its next page is; Pixelfed doesn't. */
export function linkOf(answer: unknown, { url, origin, isPixelfed }: Request): string | undefined {
  if (isPixelfed || !url.pathname.endsWith("/statuses") || !Array.isArray(answer)) return undefined;
  const last: unknown = answer.at(-1);
  if (typeof last !== "object" || last === null || !("id" in last)) return undefined;
  const next = `${origin}${url.pathname}?max_id=${String(last.id)}`;
  return `<${next}>; rel="next", <${origin}${url.pathname}?min_id=1>; rel="prev"`;
}
