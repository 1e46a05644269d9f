import { z } from "zod";
import { AppError } from "../errors.ts";
import { askJson } from "../fetching/ask.ts";
import type { JsonObject } from "../types.ts";
import {
  maybe,
  notAvailable,
  platformItem,
  readItems,
  requireFound,
  unsupported,
  webUrl,
} from "./item.ts";
import type { Listing, ListingPage, Platform, PlatformItem, Wanted } from "./platform.ts";
import { requireSetting, type Settings } from "./settings.ts";

const PAGE = 25;

const place = z.object({ username: z.string() });
const cursor = z.object({ after: z.string() });
const file = z.object({ id: z.string(), media_type: z.string(), media_url: maybe(webUrl) });
const post = file.extend({
  permalink: webUrl,
  caption: maybe(z.string()),
  timestamp: maybe(z.string()),
  children: maybe(z.object({ data: z.array(z.unknown()) })),
});
const profile = z.object({
  business_discovery: z.object({
    username: z.string(),
    name: maybe(z.string()),
    media: maybe(
      z.object({
        data: z.array(z.unknown()),
        paging: maybe(z.object({ cursors: maybe(z.object({ after: maybe(z.string()) })) })),
      }),
    ),
  }),
});
const MEDIA =
  "id,caption,media_type,media_url,permalink,timestamp,children{id,media_type,media_url}";

/**
 * Business Discovery of Instagram's API with the operator's token (developers.facebook.com, "IG User:
 * business_discovery"): posts of professional accounts. Nothing can be asked of a single post of others: a file
 * is where the list said, for some days, and whether it is still there can't be told.
 */
export const instagram: Platform = {
  name: "instagram",
  kinds: ["profile"],
  needs: () => ["INSTAGRAM_TOKEN", "INSTAGRAM_USER_ID"],
  matches: (wanted) => usernameOf(wanted) !== null,
  resolve: async (env, wanted) => {
    const username = usernameOf(wanted);
    if (!username) throw unsupported("Instagram", wanted);
    const found = await requireFound("professional account", discover(env, username, ""));
    const url = `https://www.instagram.com/${found.username}/`;
    return { platform: "instagram", title: found.name || found.username, url, of: { username } };
  },
  list,
  media: async (_, item) => {
    const { url } = z.object({ url: maybe(z.string()) }).parse(item.handle);
    if (!url) throw notAvailable(WITHHELD);
    return { url, captions: [] };
  },
};

const WITHHELD = "Instagram doesn't give its file, as with what holds protected music.";

async function list(env: Settings, { of }: Listing, at: JsonObject | null): Promise<ListingPage> {
  const { username } = place.parse(of);
  const after = at ? `.after(${cursor.parse(at).after})` : "";
  const found = await discover(env, username, `,media.limit(${PAGE})${after}{${MEDIA}}`);
  const data = found.media?.data ?? [];
  const next = found.media?.paging?.cursors?.after;
  return {
    items: readItems("instagram", post, data).flatMap((one) => itemsOf(one, found.username)),
    next: next && data.length > 0 && isCursor(next) ? { after: next } : null,
    validators: null,
    unchanged: false,
  };
}

/** Cursors become part of an expression. */
function isCursor(text: string): boolean {
  return /^[\w=+/-]+$/.test(text);
}

function itemsOf(one: z.infer<typeof post>, username: string): PlatformItem[] {
  const children = readItems("instagram", file, one.children?.data ?? []);
  return (children.length > 0 ? children : [one]).map((part) =>
    platformItem({
      platformId: part.id,
      assetType: part.media_type === "VIDEO" ? "video" : "image",
      pageUrl: one.permalink,
      title: one.caption?.split("\n")[0] || `Posted by @${username}`,
      author: username,
      publishedAt: one.timestamp,
      description: one.caption,
      tags: (one.caption?.match(/#[\p{L}\p{N}_]+/gu) ?? []).map((tag) => tag.slice(1)),
      handle: part.media_url ? { url: part.media_url } : {},
      refused: part.media_url ? undefined : WITHHELD,
    }),
  );
}

async function discover(env: Settings, username: string, more: string) {
  const token = requireSetting(env, "INSTAGRAM_TOKEN");
  const fields = `business_discovery.username(${username}){username,name${more}}`;
  const base = `${env.INSTAGRAM_API_URL}/${requireSetting(env, "INSTAGRAM_USER_ID")}`;
  const answer = await askJson(env, {
    who: "Instagram",
    url: base,
    query: { fields },
    secrets: { authorization: `Bearer ${token}` },
    schema: profile,
    explain,
  });
  return answer.business_discovery;
}

function usernameOf(wanted: Wanted): string | null {
  if (wanted.kind !== "profile") return null;
  const url = URL.parse(wanted.url ?? "");
  const isHere = url && /^(?:www\.)?instagram\.com$/.test(url.hostname);
  const name = isHere ? url.pathname.replaceAll("/", "") : (wanted.username ?? "");
  return /^@?([A-Za-z0-9_.]{1,30})$/.exec(name)?.[1] ?? null;
}

const problem = z.object({
  error: z.object({ code: z.number(), error_subcode: maybe(z.number()), message: z.string() }),
});
const TOO_OFTEN = new Set([4, 17, 32, 613]);
const NOT_PROFESSIONAL = new Set([2_207_013, 2_207_006]);

/** developers.facebook.com/docs/graph-api/guides/error-handling */
function explain(body: unknown): AppError | undefined {
  const { data } = problem.safeParse(body);
  if (!data) return undefined;
  const { code, error_subcode: subcode } = data.error;
  if (TOO_OFTEN.has(code)) {
    const message = "Instagram was asked too often.";
    return new AppError("rate_limited", message, { retryAfter: 3600 });
  }
  if (code === 190 || code === 10 || code === 102 || (code >= 200 && code < 300)) {
    const message = `Instagram doesn't take INSTAGRAM_TOKEN, or not for this (${code}).`;
    return new AppError("platform_not_configured", message);
  }
  if (code === 110 || (subcode && NOT_PROFESSIONAL.has(subcode))) {
    return new AppError("original_removed", "Instagram has no such account, or it is personal.");
  }
  if (code === 1 || code === 2) {
    return new AppError("upstream_unavailable", "Instagram is out of order.");
  }
  return new AppError("upstream_failed", `Instagram failed (${code}).`);
}
