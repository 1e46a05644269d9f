import * as z from "zod";
import { AppError } from "../errors.ts";
import { fetchJson, type JsonResponse } from "../fetching/fetch-json.ts";
import type { JsonObject } from "../types.ts";
import {
  fetchListingPage,
  httpUrl,
  loginRequired,
  optional,
  parseItems,
  requireFound,
  toPlatformItem,
  type ImportRequest,
  type Listing,
  type Platform,
  type PlatformItem,
  type Settings,
} from "./platform.ts";
import { htmlToText } from "./web.ts";

/**
 * Paths of the APIs, and items per page. Pixelfed's own API has the same form as Mastodon's, and
 * unlike its Mastodon API needs no login.
 */
const SERVERS = {
  mastodon: { api: "/api/v1", pageSize: 40 },
  pixelfed: { api: "/api/pixelfed/v1", pageSize: 24 },
} as const;
type Server = keyof typeof SERVERS;

const server = z.enum(["mastodon", "pixelfed"]);
const accountRef = z.object({ server, origin: z.string(), account: z.string() });
const handle = z.object({ server, origin: z.string(), post: z.string(), attachment: z.string() });
const pageCursor = z.object({ maxId: z.string() });
const account = z.object({
  id: z.string(),
  acct: z.string(),
  display_name: optional(z.string()),
  url: httpUrl,
});
const instance = z.object({ version: z.string() });
const webfinger = z.object({
  links: z.array(z.object({ rel: z.string(), href: optional(z.string()) })),
});
const posts = z.array(z.unknown());
const attachment = z.object({
  id: z.string(),
  type: z.string(),
  url: optional(httpUrl),
  /** MIME type; Pixelfed only. */
  mime: optional(z.string()),
  license: optional(z.object({ title: optional(z.string()), url: optional(z.string()) })),
  description: optional(z.string()),
});

const post = z.object({
  id: z.string(),
  url: httpUrl,
  visibility: optional(z.string()),
  created_at: optional(z.string()),
  content: optional(z.string()),
  spoiler_text: optional(z.string()),
  language: optional(z.string()),
  account: z.object({ acct: z.string(), display_name: optional(z.string()) }),
  tags: optional(z.array(z.object({ name: z.string() }))),
  media_attachments: z.array(z.unknown()),
});

/**
 * Servers with Mastodon's API (docs.joinmastodon.org/methods/accounts), without a login: an
 * account's public and unlisted posts with media. Each attachment is an item. Boosts are excluded.
 */
export const mastodon: Platform<FediverseProfile> = {
  name: "mastodon",
  ...profilePlatform(parseProfile),
};

/**
 * Accepts `https://host/name` besides Mastodon's forms. Both platforms import from both kinds of
 * server.
 */
export const pixelfed: Platform<FediverseProfile> = {
  name: "pixelfed",
  ...profilePlatform((request, env) => parseProfile(request, env) ?? parseBareProfile(request)),
};

function profilePlatform(parse: typeof parseProfile): Omit<Platform<FediverseProfile>, "name"> {
  return {
    kinds: ["profile"],
    parse,
    resolve: (env, profile) => requireFound("profile", toListing(env, profile)),
    list: (env, { ref }, cursor) => {
      const { server: kind, origin, account: accountId } = accountRef.parse(ref);
      const maxId = cursor && pageCursor.parse(cursor).maxId;
      const { api, pageSize } = SERVERS[kind];
      const query = {
        only_media: "true",
        exclude_reblogs: "true",
        limit: String(pageSize),
        ...(maxId !== null && { max_id: maxId }),
      };
      const path = `${api}/accounts/${encodeURIComponent(accountId)}/statuses`;
      const request = { ...apiRequest(origin, path, posts), query };
      return fetchListingPage(env, kind, request, (response) => ({
        entries: response.value,
        toItems: (entry) => toItems(post.parse(entry), kind, origin),
        next: nextCursor(response, maxId),
      }));
    },
    media,
  };
}

async function toListing(env: Settings, profile: FediverseProfile): Promise<Listing> {
  const { origin, profile: homeAccount } = await findAccount(env, profile);
  const { version } = await fetchJson(env, apiRequest(origin, "/api/v1/instance", instance));
  const kind: Server = /pixelfed/i.test(version) ? "pixelfed" : "mastodon";
  const title = homeAccount.display_name?.trim() || `@${homeAccount.acct}@${new URL(origin).host}`;
  const ref = { server: kind, origin, account: homeAccount.id };
  return { platform: kind, title, url: homeAccount.url, ref };
}

/**
 * Fetches an account from its server. If the handle's host doesn't have the account, follows its
 * WebFinger record (RFC 7033) to another host.
 */
async function findAccount(env: Settings, { origin, name }: FediverseProfile) {
  const path = `/api/v1/accounts/lookup?acct=${encodeURIComponent(name)}`;
  try {
    return { origin, profile: await fetchJson(env, apiRequest(origin, path, account)) };
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== "original_removed") throw error;
    const resource = encodeURIComponent(`acct:${name}@${new URL(origin).host}`);
    const webfingerPath = `/.well-known/webfinger?resource=${resource}`;
    const { links } = await fetchJson(env, apiRequest(origin, webfingerPath, webfinger));
    const self = URL.parse(links.find(({ rel }) => rel === "self")?.href ?? "")?.origin;
    if (!self || self === origin) throw error;
    return { origin: self, profile: await fetchJson(env, apiRequest(self, path, account)) };
  }
}

/**
 * Reads the next cursor from the `Link` header, or from the last post's id: Pixelfed sends no
 * header. Returns null unless the cursor is below the current one, because a server that ignores
 * `max_id` returns the same page endlessly.
 */
function nextCursor(
  { value, next }: JsonResponse<unknown[]>,
  maxId: string | null,
): JsonObject | null {
  const linked = URL.parse(next ?? "")?.searchParams.get("max_id");
  const last = z.object({ id: z.string() }).safeParse(value.at(-1)).data?.id;
  const lowest = linked ?? last;
  if (lowest === undefined || value.length === 0) return null;
  return maxId === null || isOlder(lowest, maxId) ? { maxId: lowest } : null;
}

/** Whether id `a` is older than `b`. Later ids are longer, or sort after earlier ones. */
function isOlder(a: string, b: string): boolean {
  return a.length === b.length ? a < b : a.length < b.length;
}

async function media(env: Settings, item: PlatformItem) {
  const { server: kind, origin, post: postId, attachment: id } = handle.parse(item.handle);
  const path = `${SERVERS[kind].api}/statuses/${encodeURIComponent(postId)}`;
  const { media_attachments } = await fetchJson(env, apiRequest(origin, path, post));
  const files = parseItems("mastodon", attachment, media_attachments);
  const url = files.find((file) => file.id === id)?.url;
  if (!url) throw new AppError("original_removed", "The post no longer has this attachment.");
  return { url, captions: [] };
}

function apiRequest<Schema extends z.ZodType>(origin: string, path: string, schema: Schema) {
  const serverName = `The server ${new URL(origin).host}`;
  return { serverName, url: origin + path, schema, explain };
}

const explain = loginRequired("This server shows it to logged-in users only.");

/** Types of attachments that are imported, sound as a video. */
const ASSET_TYPES = new Map<string, "image" | "video">([
  ["image", "image"],
  ["video", "video"],
  ["gifv", "video"],
  ["audio", "video"],
]);
const UNKNOWN_KIND = "The server doesn't have this file, or doesn't know its kind.";
const PUBLIC = new Set(["public", "unlisted"]);

/** Makes an item of each attachment of a public or unlisted post, sensitive ones included. */
function toItems(
  { media_attachments: attachments, ...rest }: z.infer<typeof post>,
  server: Server,
  origin: string,
): PlatformItem[] {
  if (!PUBLIC.has(rest.visibility ?? "public")) return [];
  const text = [rest.spoiler_text, htmlToText(rest.content ?? "")].filter(Boolean).join("\n");
  return parseItems(server, attachment, attachments).map((file) => {
    const assetType = ASSET_TYPES.get(file.type);
    return toPlatformItem({
      platformId: `${new URL(origin).host}/${file.id}`,
      assetType: assetType ?? "image",
      pageUrl: rest.url,
      title: text.split("\n")[0] || `Posted by @${rest.account.acct}`,
      author: rest.account.display_name || rest.account.acct,
      licence: file.license?.url ?? file.license?.title,
      publishedAt: rest.created_at,
      description: text,
      tags: rest.tags?.map(({ name }) => name) ?? [],
      language: rest.language,
      altText: file.description,
      handle: { server, origin, post: rest.id, attachment: file.id },
      ...(!file.url && { unavailable: "The server is still processing it." }),
      ...(!assetType && { unavailable: UNKNOWN_KIND }),
    });
  });
}

interface FediverseProfile {
  origin: string;
  name: string;
}

const HANDLE = /^@?([\w.-]{1,64})@((?:[\p{L}\p{M}\p{N}_-]+\.)+[\p{L}\p{M}\p{N}_-]+(?::\d+)?)$/u;
const NAME = String.raw`[\w.\-]{1,64}`;
const PROFILE_PATH = new RegExp(
  `^/(?:@|users/|web/@|web/accounts/@)(${NAME})(?:@([^/]+))?(?:/media)?/?$`,
);
const BARE_PROFILE_PATH = new RegExp(`^/(${NAME})/?$`);
/** Sites outside the fediverse whose profile URLs have the same form. */
const OTHER_SITES =
  /(?:^|\.)(?:(?:flickr|instagram|youtube|threads|tiktok|medium|facebook|x|twitter)\.com|threads\.net)$/;

/**
 * Parses `@name@host`, `name@host`, or a URL whose path only fediverse servers use: `/@name`,
 * `/users/name`. Returns null for any other request.
 */
export function parseProfile(request: ImportRequest, env: Settings): FediverseProfile | null {
  if (request.kind !== "profile") return null;
  if (request.url !== undefined) return parseProfileUrl(request.url, PROFILE_PATH);
  const [, name, host] = HANDLE.exec(request.username ?? "") ?? [];
  const origin = host && originOf(host, env);
  return name && origin ? { origin, name } : null;
}

/** Parses `https://host/name`, the form of Pixelfed's profile URLs. */
export function parseBareProfile(request: ImportRequest): FediverseProfile | null {
  if (request.kind !== "profile" || request.url === undefined) return null;
  return parseProfileUrl(request.url, BARE_PROFILE_PATH);
}

function parseProfileUrl(text: string, pattern: RegExp): FediverseProfile | null {
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol) || OTHER_SITES.test(url.hostname)) return null;
  const [, name, home] = pattern.exec(url.pathname) ?? [];
  const origin = home ? URL.parse(`${url.protocol}//${home}`)?.origin : url.origin;
  return name && origin ? { origin, name } : null;
}

/** Uses http for the hosts in `FETCH_ALLOW`: local servers without certificates. */
function originOf(host: string, { FETCH_ALLOW }: Settings): string | undefined {
  const isLocal = FETCH_ALLOW.split(",").includes(host);
  return URL.parse(`${isLocal ? "http" : "https"}://${host}`)?.origin;
}
