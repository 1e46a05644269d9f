import { z } from "zod";
import { AppError } from "../errors.ts";
import { type Answer, askChanges, askJson } from "../fetching/ask.ts";
import type { JsonObject } from "../types.ts";
import { bareProfile, type FediverseProfile, fediverseProfile } from "./fediverse-profile.ts";
import {
  maybe,
  notAvailable,
  readItems,
  requireFound,
  UNCHANGED,
  unsupported,
  webUrl,
} from "./item.ts";
import { itemsOf, mediaUrlOf, post } from "./mastodon-post.ts";
import type { Listing, ListingPage, Platform, PlatformItem } from "./platform.ts";
import type { Settings } from "./settings.ts";

/** Pixelfed shows its Mastodon API only to who has logged in, and its own, in the same form, to all. */
const SERVERS = {
  mastodon: { api: "/api/v1", page: 40 },
  pixelfed: { api: "/api/pixelfed/v1", page: 24 },
} as const;
type Server = keyof typeof SERVERS;

const server = z.enum(["mastodon", "pixelfed"]);
const place = z.object({ server, origin: z.string(), account: z.string() });
const handle = z.object({ server, origin: z.string(), post: z.string(), attachment: z.string() });
const below = z.object({ maxId: z.string() });
const account = z.object({
  id: z.string(),
  acct: z.string(),
  display_name: maybe(z.string()),
  url: webUrl,
});
const instance = z.object({ version: z.string() });
const webfinger = z.object({
  links: z.array(z.object({ rel: z.string(), href: maybe(z.string()) })),
});
const posts = z.array(z.unknown());

/**
 * Servers of Mastodon's API (docs.joinmastodon.org/methods/accounts) as anybody sees them: public and
 * unlisted posts with pictures or videos, each attachment an item; not those of others that it boosts.
 */
export const mastodon: Platform = { name: "mastodon", ...profilesOf(fediverseProfile) };

/** Also finds profiles at `https://host/name`. Either of the two recognises the other's servers. */
export const pixelfed: Platform = {
  name: "pixelfed",
  ...profilesOf((wanted, env) => fediverseProfile(wanted, env) ?? bareProfile(wanted)),
};

function profilesOf(
  recognise: (...wanted: Parameters<typeof fediverseProfile>) => FediverseProfile | null,
): Omit<Platform, "name"> {
  return {
    kinds: ["profile"],
    matches: (wanted, env) => recognise(wanted, env) !== null,
    resolve: async (env, wanted) => {
      const profile = recognise(wanted, env);
      if (!profile) throw unsupported("Mastodon or Pixelfed", wanted);
      return requireFound("profile", listingOf(env, profile));
    },
    list,
    media,
  };
}

async function listingOf(env: Settings, profile: FediverseProfile): Promise<Listing> {
  const { origin, found } = await lookUp(env, profile);
  const { version } = await ask(env, origin, "/api/v1/instance", instance);
  const kind: Server = /pixelfed/i.test(version) ? "pixelfed" : "mastodon";
  const title = found.display_name?.trim() || `@${found.acct}@${new URL(origin).host}`;
  const of = { server: kind, origin, account: found.id };
  return { platform: kind, title, url: found.url, of };
}

/** A handle's host may only point to the server that has it (WebFinger, RFC 7033). */
async function lookUp(env: Settings, { origin, name }: FediverseProfile) {
  const path = `/api/v1/accounts/lookup?acct=${encodeURIComponent(name)}`;
  try {
    return { origin, found: await ask(env, origin, path, account) };
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== "original_removed") throw error;
    const resource = encodeURIComponent(`acct:${name}@${new URL(origin).host}`);
    const finger = `/.well-known/webfinger?resource=${resource}`;
    const { links } = await ask(env, origin, finger, webfinger);
    const self = URL.parse(links.find(({ rel }) => rel === "self")?.href ?? "")?.origin;
    if (!self || self === origin) throw error;
    return { origin: self, found: await ask(env, self, path, account) };
  }
}

async function list(
  env: Settings,
  { of }: Listing,
  at: JsonObject | null,
  validators: JsonObject | null,
): Promise<ListingPage> {
  const from = place.parse(of);
  const maxId = at && below.parse(at).maxId;
  const { api, page } = SERVERS[from.server];
  const query = {
    only_media: "true",
    exclude_reblogs: "true",
    limit: String(page),
    ...(maxId !== null && { max_id: maxId }),
  };
  const path = `${api}/accounts/${encodeURIComponent(from.account)}/statuses`;
  const asked = { ...question(from.origin, path, posts), query };
  const answer = await askChanges(env, asked, validators);
  if (answer === "unchanged") return UNCHANGED;
  return {
    items: readItems(from.server, post, answer.value).flatMap((one) => itemsOf(one, from)),
    next: nextOf(answer, maxId),
    validators: answer.validators,
    unchanged: false,
  };
}

/**
 * By its `Link` header; Pixelfed sends none: below the last post. Null where that is no lower than before: a
 * server that doesn't heed `max_id` would send the same page for ever.
 */
function nextOf({ value, next }: Answer<unknown[]>, maxId: string | null): JsonObject | null {
  const linked = URL.parse(next ?? "")?.searchParams.get("max_id");
  const last = z.object({ id: z.string() }).safeParse(value.at(-1)).data?.id;
  const lowest = linked ?? last;
  if (lowest === undefined || value.length === 0) return null;
  return maxId === null || isBelow(lowest, maxId) ? { maxId: lowest } : null;
}

/** Ids are whole numbers, or else text, that grow with time. */
function isBelow(a: string, b: string): boolean {
  return a.length === b.length ? a < b : a.length < b.length;
}

async function media(env: Settings, item: PlatformItem) {
  const of = handle.parse(item.handle);
  const path = `${SERVERS[of.server].api}/statuses/${encodeURIComponent(of.post)}`;
  const url = mediaUrlOf(await ask(env, of.origin, path, post), of.attachment);
  if (!url) throw new AppError("original_removed", "The post no longer has this picture.");
  return { url, captions: [] };
}

function ask<Schema extends z.ZodType>(
  env: Settings,
  origin: string,
  path: string,
  schema: Schema,
): Promise<z.output<Schema>> {
  return askJson(env, question(origin, path, schema));
}

function question<Schema extends z.ZodType>(origin: string, path: string, schema: Schema) {
  const who = `The server ${new URL(origin).host}`;
  return { who, url: origin + path, schema, explain };
}

function explain(_: unknown, status: number): AppError | undefined {
  if (status !== 401 && status !== 403) return undefined;
  return notAvailable("This server shows it only to who has logged in.");
}
