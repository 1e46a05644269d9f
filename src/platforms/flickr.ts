import { z } from "zod";
import { AppError } from "../errors.ts";
import { askJson } from "../fetching/ask.ts";
import type { JsonObject } from "../types.ts";
import { maybe, notAvailable, platformItem, readItems, requireFound, unsupported } from "./item.ts";
import type { Listing, ListingPage, Platform, PlatformItem, Wanted } from "./platform.ts";
import { plainText } from "./plain-text.ts";
import { requireSetting, type Settings } from "./settings.ts";

const PAGE = 100;
/** Pixels across, or down, of the largest that is taken. */
const MOST_SIDE = 2048;

const content = z.object({ _content: z.string() });
const place = z.object({ user: z.string(), licences: z.record(z.string(), z.string()) });
const numbered = z.object({ page: z.int() });
const owner = z.object({ user: z.object({ nsid: z.string(), username: content }) });
const lookedUp = z.object({ user: z.object({ id: z.string(), username: content }) });
const licence = z.object({ id: z.coerce.string(), name: z.string(), url: maybe(z.string()) });
const licences = z.object({ licenses: z.object({ license: z.array(z.unknown()) }) });
const photos = z.object({
  photos: z.object({ pages: z.coerce.number(), photo: z.array(z.unknown()) }),
});
const photo = z.object({
  id: z.string().regex(/^\d+$/),
  owner: z.string(),
  title: maybe(z.string()),
  description: maybe(content),
  ownername: maybe(z.string()),
  license: maybe(z.coerce.string()),
  dateupload: maybe(z.coerce.number()),
  tags: maybe(z.string()),
  media: maybe(z.string()),
});
const sizes = z.object({
  sizes: z.object({ candownload: maybe(z.coerce.number()), size: z.array(z.unknown()) }),
});
const size = z.object({
  source: z.string(),
  media: z.string(),
  width: z.coerce.number(),
  height: z.coerce.number(),
});

const NSID = /^\d+@N\d{2}$/;

/** Flickr's API (flickr.com/services/api) with the operator's key: what a member shows to everybody. */
export const flickr: Platform = {
  name: "flickr",
  kinds: ["profile"],
  needs: () => ["FLICKR_API_KEY"],
  matches: (wanted) =>
    profileUrl(wanted) !== null || (wanted.kind === "profile" && NSID.test(wanted.username ?? "")),
  resolve: async (env, wanted) => {
    if (wanted.kind !== "profile") throw unsupported("Flickr", wanted);
    const { id, title } = await requireFound("member of Flickr", memberOf(env, wanted));
    const list = await call(env, "photos.licenses.getInfo", {}, licences);
    const known = readItems("flickr", licence, list.licenses.license);
    const of = {
      user: id,
      licences: Object.fromEntries(known.map((one) => [one.id, one.url || one.name])),
    };
    return { platform: "flickr", title, url: `https://www.flickr.com/photos/${id}`, of };
  },
  list,
  media: async (env, item) => {
    const answer = await call(env, "photos.getSizes", { photo_id: String(item.handle.id) }, sizes);
    if (answer.sizes.candownload === 0) throw notAvailable("Its owner doesn't allow downloads.");
    const wanted = item.assetType === "video" ? "video" : "photo";
    const found = readItems("flickr", size, answer.sizes.size)
      .filter(({ media, width }) => media === wanted && width > 0)
      .map((one) => ({ url: one.source, side: Math.max(one.width, one.height) }))
      .sort((a, b) => rank(a.side) - rank(b.side));
    if (!found[0]) throw notAvailable("Flickr has no file of it.");
    return { url: found[0].url, captions: [] };
  },
};

function rank(side: number): number {
  return side <= MOST_SIDE ? MOST_SIDE - side : side;
}

async function list(env: Settings, { of }: Listing, at: JsonObject | null): Promise<ListingPage> {
  const from = place.parse(of);
  const page = at ? numbered.parse(at).page : 1;
  const answer = await call(
    env,
    "people.getPublicPhotos",
    {
      user_id: from.user,
      per_page: String(PAGE),
      page: String(page),
      extras: "description,license,date_upload,owner_name,tags,media",
    },
    photos,
  );
  const { pages, photo: found } = answer.photos;
  const items = readItems("flickr", photo, found).map((one) => itemOf(one, from.licences));
  const next = page < pages && found.length > 0 ? { page: page + 1 } : null;
  return { items, next, validators: null, unchanged: false };
}

function itemOf(one: z.infer<typeof photo>, names: Record<string, string>): PlatformItem {
  return platformItem({
    platformId: one.id,
    assetType: one.media === "video" ? "video" : "image",
    pageUrl: `https://www.flickr.com/photos/${encodeURIComponent(one.owner)}/${one.id}`,
    title: one.title || `Photo ${one.id}`,
    author: one.ownername,
    licence: names[one.license ?? ""],
    publishedAt: one.dateupload ? new Date(one.dateupload * 1000).toISOString() : null,
    description: plainText(one.description?._content ?? ""),
    tags: (one.tags ?? "").split(" ").filter(Boolean),
    handle: { id: one.id },
  });
}

async function memberOf(env: Settings, wanted: Wanted & { kind: "profile" }) {
  const url = profileUrl(wanted);
  if (url) {
    const { user } = await call(env, "urls.lookupUser", { url }, lookedUp);
    return { id: user.id, title: user.username._content };
  }
  const username = wanted.username ?? "";
  if (username === "") throw unsupported("Flickr", wanted);
  if (NSID.test(username)) return { id: username, title: username };
  const { user } = await call(env, "people.findByUsername", { username }, owner);
  return { id: user.nsid, title: user.username._content };
}

function profileUrl(wanted: Wanted): string | null {
  const url = wanted.kind === "profile" ? URL.parse(wanted.url ?? "") : null;
  if (!url || !/^(?:www\.|m\.)?flickr\.com$/.test(url.hostname)) return null;
  const name = /^\/(?:photos|people)\/([\w@-]+)\/?$/.exec(url.pathname)?.[1];
  return name ? `https://www.flickr.com/photos/${name}/` : null;
}

function call<Schema extends z.ZodType>(
  env: Settings,
  method: string,
  parameters: Record<string, string>,
  schema: Schema,
): Promise<z.output<Schema>> {
  const query = {
    method: `flickr.${method}`,
    api_key: requireSetting(env, "FLICKR_API_KEY"),
    format: "json",
    nojsoncallback: "1",
    ...parameters,
  };
  return askJson(env, { who: "Flickr", url: env.FLICKR_API_URL, query, schema, explain });
}

const problem = z.object({ stat: z.literal("fail"), code: z.coerce.number() });

/** Codes of flickr.com/services/api: from 95 on of every method, 1 and 2 of who or what is asked for. */
function explain(body: unknown): AppError | undefined {
  const { data } = problem.safeParse(body);
  switch (data?.code) {
    case undefined:
      return undefined;
    case 1:
      return new AppError("original_removed", "Flickr has no such member or photo.");
    case 2:
      return notAvailable("It is not public.");
    case 100:
      return new AppError("platform_not_configured", "Flickr doesn't take FLICKR_API_KEY.");
    case 105:
    case 106:
      return new AppError("upstream_unavailable", "Flickr is out of order.");
    default:
      return new AppError("upstream_failed", `Flickr failed (${data?.code}).`);
  }
}
