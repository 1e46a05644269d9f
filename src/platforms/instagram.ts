import * as z from "zod";
import { AppError } from "../errors.ts";
import { fetchJson } from "../fetching/fetch-json.ts";
import {
  fetchListingPage,
  httpUrl,
  mediaNotAvailable,
  optional,
  parseItems,
  requireFound,
  toPlatformItem,
  type ImportRequest,
  type Platform,
  type PlatformItem,
  requireSetting,
  type Settings,
} from "./platform.ts";

const PAGE_SIZE = 25;

const userRef = z.object({ username: z.string() });
const pageCursor = z.object({ after: z.string() });
const file = z.object({ id: z.string(), media_type: z.string(), media_url: optional(httpUrl) });
const post = file.extend({
  permalink: httpUrl,
  caption: optional(z.string()),
  timestamp: optional(z.string()),
  children: optional(z.object({ data: z.array(z.unknown()) })),
});
const profile = z.object({
  business_discovery: z.object({
    username: z.string(),
    name: optional(z.string()),
    media: optional(
      z.object({
        data: z.array(z.unknown()),
        paging: optional(
          z.object({ cursors: optional(z.object({ after: optional(z.string()) })) }),
        ),
      }),
    ),
  }),
});
const MEDIA_FIELDS =
  "id,caption,media_type,media_url,permalink,timestamp,children{id,media_type,media_url}";

/**
 * Business Discovery of Instagram's API with the operator's token (developers.facebook.com, "IG
 * User: business_discovery"): posts of professional accounts. The API can't fetch a single post of
 * another account, so `media` returns the file URL of the listing, which is valid for some days.
 */
export const instagram: Platform<string> = {
  name: "instagram",
  kinds: ["profile"],
  requiredSettings: () => ["INSTAGRAM_TOKEN", "INSTAGRAM_USER_ID"],
  parse: toUsername,
  resolve: async (env, username) => {
    const response = fetchJson(env, profileRequest(env, username, ""));
    const found = await requireFound("professional account", response);
    const { username: name, name: title } = found.business_discovery;
    const url = `https://www.instagram.com/${name}/`;
    return { platform: "instagram", title: title || name, url, ref: { username } };
  },
  list: (env, { ref }, cursor) => {
    const after = cursor ? `.after(${pageCursor.parse(cursor).after})` : "";
    const mediaField = `,media.limit(${PAGE_SIZE})${after}{${MEDIA_FIELDS}}`;
    const request = profileRequest(env, userRef.parse(ref).username, mediaField);
    return fetchListingPage(env, "instagram", request, ({ value }) => {
      const { media, username } = value.business_discovery;
      const entries = media?.data ?? [];
      const next = media?.paging?.cursors?.after ?? "";
      return {
        entries,
        toItems: (entry) => toItems(post.parse(entry), username),
        next: entries.length > 0 && isCursor(next) ? { after: next } : null,
      };
    });
  },
  media: async (_, item) => {
    const { url } = z.object({ url: optional(z.string()) }).parse(item.handle);
    if (!url) throw mediaNotAvailable(WITHHELD);
    return { url, captions: [] };
  },
};

const WITHHELD = "Instagram withholds its file, as for posts with protected music.";

/** Whether a cursor can be inserted into a field expression without escaping. */
function isCursor(text: string): boolean {
  return /^[\w=+/-]+$/.test(text);
}

function toItems(entry: z.infer<typeof post>, username: string): PlatformItem[] {
  const children = parseItems("instagram", file, entry.children?.data ?? []);
  return (children.length > 0 ? children : [entry]).map((media) =>
    toPlatformItem({
      platformId: media.id,
      assetType: media.media_type === "VIDEO" ? "video" : "image",
      pageUrl: entry.permalink,
      title: entry.caption?.split("\n")[0] || `Posted by @${username}`,
      author: username,
      publishedAt: entry.timestamp,
      description: entry.caption,
      tags: (entry.caption?.match(/#[\p{L}\p{N}_]+/gu) ?? []).map((tag) => tag.slice(1)),
      handle: media.media_url ? { url: media.media_url } : {},
      unavailable: media.media_url ? undefined : WITHHELD,
    }),
  );
}

function profileRequest(env: Settings, username: string, mediaField: string) {
  const token = requireSetting(env, "INSTAGRAM_TOKEN");
  const fields = `business_discovery.username(${username}){username,name${mediaField}}`;
  return {
    serverName: "Instagram",
    url: `${env.INSTAGRAM_API_URL}/${requireSetting(env, "INSTAGRAM_USER_ID")}`,
    query: { fields },
    secrets: { authorization: `Bearer ${token}` },
    schema: profile,
    explain,
  };
}

function toUsername(request: ImportRequest): string | null {
  if (request.kind !== "profile") return null;
  const url = URL.parse(request.url ?? "");
  const isInstagram = url && /^(?:www\.)?instagram\.com$/.test(url.hostname);
  const name = isInstagram ? url.pathname.replaceAll("/", "") : (request.username ?? "");
  return /^@?([A-Za-z0-9_.]{1,30})$/.exec(name)?.[1] ?? null;
}

const errorResponse = z.object({
  error: z.object({ code: z.number(), error_subcode: optional(z.number()), message: z.string() }),
});
const RATE_LIMIT_CODES = new Set([4, 17, 32, 613]);
const PERSONAL_ACCOUNT_SUBCODES = new Set([2_207_013, 2_207_006]);

/** Maps error codes (developers.facebook.com/docs/graph-api/guides/error-handling). */
function explain(body: unknown): AppError | undefined {
  const { data } = errorResponse.safeParse(body);
  if (!data) return undefined;
  const { code, error_subcode: subcode } = data.error;
  if (RATE_LIMIT_CODES.has(code)) {
    const message = "Instagram got too many requests.";
    return new AppError("rate_limited", message, { retryAfter: 3600 });
  }
  if (code === 190 || code === 10 || code === 102 || (code >= 200 && code < 300)) {
    const message = `Instagram doesn't take INSTAGRAM_TOKEN, or not for this (${code}).`;
    return new AppError("platform_not_configured", message);
  }
  if (code === 110 || (subcode && PERSONAL_ACCOUNT_SUBCODES.has(subcode))) {
    return new AppError("original_removed", "Instagram has no such account, or it is personal.");
  }
  if (code === 1 || code === 2) {
    return new AppError("upstream_unavailable", "Instagram is out of order.");
  }
  return new AppError("upstream_failed", `Instagram failed (${code}).`);
}
