import * as z from "zod";
import { AppError, type ErrorCode } from "../errors.ts";
import { fetchJson } from "../fetching/fetch-json.ts";
import {
  fetchListingPage,
  mediaNotAvailable,
  optional,
  parseItems,
  requireFound,
  toPlatformItem,
  unsupportedRequest,
  type ImportRequest,
  type Platform,
  type PlatformItem,
  requireSetting,
  sizeRank,
  type Settings,
} from "./platform.ts";
import { htmlToText } from "./web.ts";

const PAGE_SIZE = 100;
/** Maximum longer side of the download, in pixels; if every size exceeds it, the smallest. */
const MAX_SIDE = 2048;

const content = z.object({ _content: z.string() });
const memberRef = z.object({ user: z.string(), licences: z.record(z.string(), z.string()) });
const pageCursor = z.object({ page: z.int() });
const userByName = z.object({ user: z.object({ nsid: z.string(), username: content }) });
const userByUrl = z.object({ user: z.object({ id: z.string(), username: content }) });
const licence = z.object({ id: z.coerce.string(), name: z.string(), url: optional(z.string()) });
const licences = z.object({ licenses: z.object({ license: z.array(z.unknown()) }) });
const photos = z.object({
  photos: z.object({ pages: z.coerce.number(), photo: z.array(z.unknown()) }),
});
const photo = z.object({
  id: z.string().regex(/^\d+$/),
  owner: z.string(),
  title: optional(z.string()),
  description: optional(content),
  ownername: optional(z.string()),
  license: optional(z.coerce.string()),
  dateupload: optional(z.coerce.number()),
  tags: optional(z.string()),
  media: optional(z.string()),
});
const sizes = z.object({
  sizes: z.object({ candownload: optional(z.coerce.number()), size: z.array(z.unknown()) }),
});
const size = z.object({
  source: z.string(),
  media: z.string(),
  width: z.coerce.number(),
  height: z.coerce.number(),
});

const NSID = /^\d+@N\d{2}$/;

/** Flickr's API (flickr.com/services/api) with the operator's key: a member's public photos. */
export const flickr: Platform = {
  name: "flickr",
  kinds: ["profile"],
  requiredSettings: () => ["FLICKR_API_KEY"],
  matches: (request) =>
    profileUrl(request) !== null ||
    (request.kind === "profile" && NSID.test(request.username ?? "")),
  resolve: async (env, request) => {
    if (request.kind !== "profile") throw unsupportedRequest("Flickr", request);
    const { id, title } = await requireFound("member of Flickr", findMember(env, request));
    const response = await fetchJson(env, apiRequest(env, "photos.licenses.getInfo", {}, licences));
    const knownLicences = parseItems("flickr", licence, response.licenses.license);
    const licenceNames = knownLicences.map((each) => [each.id, each.url || each.name] as const);
    const ref = { user: id, licences: Object.fromEntries(licenceNames) };
    return { platform: "flickr", title, url: `https://www.flickr.com/photos/${id}`, ref };
  },
  list: (env, { ref }, cursor) => {
    const { user, licences: licenceNames } = memberRef.parse(ref);
    const page = cursor ? pageCursor.parse(cursor).page : 1;
    const parameters = {
      user_id: user,
      per_page: String(PAGE_SIZE),
      page: String(page),
      extras: "description,license,date_upload,owner_name,tags,media",
    };
    const request = apiRequest(env, "people.getPublicPhotos", parameters, photos);
    return fetchListingPage(env, "flickr", request, null, ({ value: { photos: listed } }) => ({
      entries: listed.photo,
      toItems: (entry) => [toItem(photo.parse(entry), licenceNames)],
      next: page < listed.pages && listed.photo.length > 0 ? { page: page + 1 } : null,
    }));
  },
  media: async (env, item) => {
    const parameters = { photo_id: String(item.handle.id) };
    const response = await fetchJson(env, apiRequest(env, "photos.getSizes", parameters, sizes));
    if (response.sizes.candownload === 0)
      throw mediaNotAvailable("Its owner doesn't allow downloads.");
    const mediaType = item.assetType === "video" ? "video" : "photo";
    const [best] = parseItems("flickr", size, response.sizes.size)
      .filter(({ media, width }) => media === mediaType && width > 0)
      .map(({ source, width, height }) => ({ url: source, side: Math.max(width, height) }))
      .sort((a, b) => sizeRank(a.side, MAX_SIDE) - sizeRank(b.side, MAX_SIDE));
    if (!best) throw mediaNotAvailable("Flickr has no file of it.");
    return { url: best.url, captions: [] };
  },
};

function toItem(entry: z.infer<typeof photo>, licenceNames: Record<string, string>): PlatformItem {
  return toPlatformItem({
    platformId: entry.id,
    assetType: entry.media === "video" ? "video" : "image",
    pageUrl: `https://www.flickr.com/photos/${encodeURIComponent(entry.owner)}/${entry.id}`,
    title: entry.title || `Photo ${entry.id}`,
    author: entry.ownername,
    licence: licenceNames[entry.license ?? ""],
    publishedAt: entry.dateupload ? entry.dateupload * 1000 : null,
    description: htmlToText(entry.description?._content ?? ""),
    tags: (entry.tags ?? "").split(" ").filter(Boolean),
    handle: { id: entry.id },
  });
}

async function findMember(env: Settings, request: ImportRequest & { kind: "profile" }) {
  const url = profileUrl(request);
  if (url) {
    const { user } = await fetchJson(env, apiRequest(env, "urls.lookupUser", { url }, userByUrl));
    return { id: user.id, title: user.username._content };
  }
  const username = request.username ?? "";
  if (username === "") throw unsupportedRequest("Flickr", request);
  if (NSID.test(username)) return { id: username, title: username };
  const lookup = apiRequest(env, "people.findByUsername", { username }, userByName);
  const { user } = await fetchJson(env, lookup);
  return { id: user.nsid, title: user.username._content };
}

function profileUrl(request: ImportRequest): string | null {
  const url = request.kind === "profile" ? URL.parse(request.url ?? "") : null;
  if (!url || !/^(?:www\.|m\.)?flickr\.com$/.test(url.hostname)) return null;
  const name = /^\/(?:photos|people)\/([\w@-]+)\/?$/.exec(url.pathname)?.[1];
  return name ? `https://www.flickr.com/photos/${name}/` : null;
}

function apiRequest<Schema extends z.ZodType>(
  env: Settings,
  method: string,
  parameters: Record<string, string>,
  schema: Schema,
) {
  const query = {
    method: `flickr.${method}`,
    api_key: requireSetting(env, "FLICKR_API_KEY"),
    format: "json",
    nojsoncallback: "1",
    ...parameters,
  };
  return { serverName: "Flickr", url: env.FLICKR_API_URL, query, schema, explain };
}

const errorResponse = z.object({ stat: z.literal("fail"), code: z.coerce.number() });

/** Error codes of all methods (flickr.com/services/api), and what 1 and 2 mean here. */
const ERRORS: Readonly<Record<number, [ErrorCode, string]>> = {
  1: ["original_removed", "Flickr has no such member or photo."],
  2: ["media_not_available", "It is not public."],
  100: ["platform_not_configured", "Flickr doesn't take FLICKR_API_KEY."],
  105: ["upstream_unavailable", "Flickr is out of order."],
  106: ["upstream_unavailable", "Flickr is out of order."],
};

function explain(body: unknown): AppError | undefined {
  const { data } = errorResponse.safeParse(body);
  if (!data) return undefined;
  const failed: [ErrorCode, string] = ["upstream_failed", `Flickr failed (${data.code}).`];
  return new AppError(...(ERRORS[data.code] ?? failed));
}
