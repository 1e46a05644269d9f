import { z } from "zod";
import { AppError } from "../errors.ts";
import { type JsonResponse, fetchJsonIfChanged, fetchJson } from "../fetching/fetch-json.ts";
import type { JsonObject } from "../types.ts";
import { parseBareProfile, type FediverseProfile, parseProfile } from "./fediverse-profile.ts";
import {
  optional,
  mediaNotAvailable,
  readEntries,
  requireFound,
  UNCHANGED,
  unsupportedRequest,
  httpUrl,
} from "./item.ts";
import { toItems, attachmentUrl, post } from "./mastodon-post.ts";
import type { Listing, ListingPage, Platform, PlatformItem } from "./platform.ts";
import type { Settings } from "./settings.ts";

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

/**
 * Servers with Mastodon's API (docs.joinmastodon.org/methods/accounts), without a login: an
 * account's public and unlisted posts with images or videos. Each attachment is an item. Boosts are
 * excluded.
 */
export const mastodon: Platform = { name: "mastodon", ...profilePlatform(parseProfile) };

/**
 * Accepts `https://host/name` besides Mastodon's forms. Both platforms import from both kinds of
 * server.
 */
export const pixelfed: Platform = {
  name: "pixelfed",
  ...profilePlatform((request, env) => parseProfile(request, env) ?? parseBareProfile(request)),
};

function profilePlatform(
  parse: (...request: Parameters<typeof parseProfile>) => FediverseProfile | null,
): Omit<Platform, "name"> {
  return {
    kinds: ["profile"],
    matches: (request, env) => parse(request, env) !== null,
    resolve: async (env, request) => {
      const profile = parse(request, env);
      if (!profile) throw unsupportedRequest("Mastodon or Pixelfed", request);
      return requireFound("profile", toListing(env, profile));
    },
    list,
    media,
  };
}

async function toListing(env: Settings, profile: FediverseProfile): Promise<Listing> {
  const { origin, profile: homeAccount } = await findAccount(env, profile);
  const { version } = await fetchFrom(env, origin, "/api/v1/instance", instance);
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
    return { origin, profile: await fetchFrom(env, origin, path, account) };
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== "original_removed") throw error;
    const resource = encodeURIComponent(`acct:${name}@${new URL(origin).host}`);
    const webfingerPath = `/.well-known/webfinger?resource=${resource}`;
    const { links } = await fetchFrom(env, origin, webfingerPath, webfinger);
    const self = URL.parse(links.find(({ rel }) => rel === "self")?.href ?? "")?.origin;
    if (!self || self === origin) throw error;
    return { origin: self, profile: await fetchFrom(env, self, path, account) };
  }
}

async function list(
  env: Settings,
  { ref }: Listing,
  cursor: JsonObject | null,
  validators: JsonObject | null,
): Promise<ListingPage> {
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
  const response = await fetchJsonIfChanged(env, request, validators);
  if (response === "unchanged") return UNCHANGED;
  const { values: items, broken } = readEntries(kind, response.value, (entry) =>
    toItems(post.parse(entry), { server: kind, origin }),
  );
  return {
    items,
    broken,
    next: nextCursor(response, maxId),
    validators: response.validators,
    unchanged: false,
  };
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
  const { server: kind, origin, post: postId, attachment } = handle.parse(item.handle);
  const path = `${SERVERS[kind].api}/statuses/${encodeURIComponent(postId)}`;
  const url = attachmentUrl(await fetchFrom(env, origin, path, post), attachment);
  if (!url) throw new AppError("original_removed", "The post no longer has this attachment.");
  return { url, captions: [] };
}

function fetchFrom<Schema extends z.ZodType>(
  env: Settings,
  origin: string,
  path: string,
  schema: Schema,
): Promise<z.output<Schema>> {
  return fetchJson(env, apiRequest(origin, path, schema));
}

function apiRequest<Schema extends z.ZodType>(origin: string, path: string, schema: Schema) {
  const serverName = `The server ${new URL(origin).host}`;
  return { serverName, url: origin + path, schema, explain };
}

function explain(_: unknown, status: number): AppError | undefined {
  if (status !== 401 && status !== 403) return undefined;
  return mediaNotAvailable("This server shows it to logged-in users only.");
}
