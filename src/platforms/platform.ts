import * as z from "zod";
import { cleanTitle } from "../asset-names.ts";
import { cleanText, toOneLine } from "../clean-text.ts";
import { LIMITS } from "../config.ts";
import { AppError, type Failure, failureOf } from "../errors.ts";
import { fetchJsonPage, type JsonRequest, type JsonResponse } from "../fetching/fetch-json.ts";
import { isLanguageTag } from "../language-tag.ts";
import { log } from "../log.ts";
import type { AssetType, JsonObject } from "../types.ts";
import { parseWebUrl } from "../web-url.ts";

export type ImportRequest =
  | { kind: "url"; url: string }
  /** A playlist, a channel or an account, by URL or id. */
  | { kind: "playlist"; url?: string; playlistId?: string }
  | { kind: "search"; query: string }
  /** An account that posts images, by URL or name. */
  | { kind: "profile"; url?: string; username?: string };

/** A video or an image on a platform. Serialisable as JSON: D1 stores it. */
export interface PlatformItem {
  /**
   * Unique and permanent within the platform. Includes the host on a federated platform
   * (`tube.example/9c9de5e8-…`). Each attachment of a post has its own.
   */
  platformId: string;
  assetType: AssetType;
  pageUrl: string;
  title: string;
  author: string | null;
  licence: string | null;
  /** RFC 3339. */
  publishedAt: string | null;
  description: string | null;
  tags: string[];
  /** BCP 47. */
  language: string | null;
  altText: string | null;
  /** Additional input of `media`. Opaque and small. */
  handle: JsonObject;
  /** Reason that the file can't be downloaded, if the listing gives one; else null. */
  unavailable: Failure | null;
}

/** The listing that a request refers to. Serialisable as JSON: stored with the source. */
export interface Listing {
  platform: string;
  title: string;
  url: string | null;
  /** The parsed request, in a platform-specific form. */
  ref: JsonObject;
}

export interface BrokenEntry {
  /** Its number on the page, from 1. */
  entry: number;
  message: string;
}

export interface ListingPage {
  /** Items in the platform's order. A page may have none. */
  items: PlatformItem[];
  broken: BrokenEntry[];
  /** Cursor of the next page; null on the last page. Pages may overlap. */
  next: JsonObject | null;
}

/** URLs of a file and its captions. They may expire soon. */
export interface Media {
  url: string;
  captions: Captions[];
}

export interface Captions {
  url: string;
  /** BCP 47. */
  language: string | null;
}

/**
 * A platform to import from. `resolve`, `list` and `media` throw what `fetchJson` throws, and
 * `platform_not_configured` if a setting is missing.
 */
export interface Platform<Ref = unknown> {
  name: string;
  kinds: ImportRequest["kind"][];
  requiredSettings?: (kind: ImportRequest["kind"]) => (keyof Settings)[];
  /** Parses a request by its form; null if it isn't the platform's. Sends nothing. */
  parse(request: ImportRequest, env: Settings): Ref | null;
  /** Throws `not_found` if the platform has no such listing. */
  resolve(env: Env, ref: Ref): Promise<Listing>;
  /** Fetches the page at `cursor`; the first page if it is null. */
  list(env: Env, listing: Listing, cursor: JsonObject | null): Promise<ListingPage>;
  /**
   * Returns the current URLs of an item's file and captions. Call `media` right before the
   * download: the URLs expire. Throws `media_not_available`, and `original_removed` if the item was
   * deleted.
   */
  media(env: Env, item: PlatformItem): Promise<Media>;
}

/** The operator's settings for platforms (docs/deploy.md#settings). Unset vars are empty. */
export interface Settings {
  FETCH_ALLOW: string;
  PEERTUBE_URL: string;
  YOUTUBE_API_URL: string;
  COBALT_URL: string;
  INSTAGRAM_API_URL: string;
  INSTAGRAM_USER_ID: string;
  YOUTUBE_API_KEY?: string;
  COBALT_KEY?: string;
  INSTAGRAM_TOKEN?: string;
}

/** Returns a setting. Throws `platform_not_configured`, with its name, if it isn't set. */
export function requireSetting(env: Settings, name: keyof Settings): string {
  const value = env[name];
  if (value) return value;
  const message = `This deployment lacks ${name}. Its operator can set it: docs/deploy.md#settings.`;
  throw new AppError("platform_not_configured", message);
}

const MAX_LENGTHS = { text: 5000, tags: 50, tag: 100, problem: 200 } as const;

type Text = string | null | undefined;

interface RawItem extends Pick<PlatformItem, "platformId" | "assetType" | "pageUrl" | "handle"> {
  title: Text;
  author?: Text;
  licence?: Text;
  /** Epoch ms, or time in any format that `Date.parse` reads. */
  publishedAt?: Text | number;
  description?: Text;
  tags?: string[];
  language?: Text;
  altText?: Text;
  /** Reason that the file can't be downloaded. */
  unavailable?: string | undefined;
}

/** Characters of what can't be cut, and is stored. */
const MAX_STORED = {
  id: LIMITS.urlCharacters,
  handle: 2 * LIMITS.urlCharacters,
  ref: 20_000,
  cursor: 4000,
} as const;

/**
 * Normalises an item: shortens its texts, and drops malformed times and languages. Throws
 * `upstream_failed` if its id, URL or handle is too long.
 */
export function toPlatformItem(raw: RawItem): PlatformItem {
  const isStorable =
    raw.platformId.length <= MAX_STORED.id &&
    raw.pageUrl.length <= LIMITS.urlCharacters &&
    JSON.stringify(raw.handle).length <= MAX_STORED.handle;
  if (!isStorable) throw new AppError("upstream_failed", "Its id, URL or handle is too long.");
  const unavailable =
    raw.unavailable === undefined ? null : failureOf(mediaNotAvailable(raw.unavailable));
  const { platformId, assetType, pageUrl, handle } = raw;
  return {
    platformId,
    assetType,
    pageUrl,
    handle,
    title: toLine(raw.title) ?? raw.platformId,
    author: toLine(raw.author),
    licence: toLine(raw.licence),
    publishedAt: toIsoTime(raw.publishedAt),
    description: toText(raw.description),
    tags: (raw.tags ?? [])
      .slice(0, MAX_LENGTHS.tags)
      .map((tag) => toOneLine(tag).slice(0, MAX_LENGTHS.tag)),
    language: toLanguageTag(raw.language),
    altText: toText(raw.altText),
    unavailable,
  };
}

/** Parses items, and drops those that don't match the schema. Logs their number. */
export function parseItems<Schema extends z.ZodType>(
  platform: string,
  schema: Schema,
  items: unknown[],
): z.output<Schema>[] {
  return readEntries(platform, items, (item) => [schema.parse(item)]).values;
}

/**
 * Reads the entries of a listing's page, each on its own: `read` throws for one that is malformed.
 * Logs their number.
 */
export function readEntries<Value>(
  platform: string,
  entries: unknown[],
  read: (entry: unknown) => Value[],
): { values: Value[]; broken: BrokenEntry[] } {
  const values: Value[] = [];
  const broken: BrokenEntry[] = [];
  for (const [i, entry] of entries.entries()) {
    try {
      for (const value of read(entry)) values.push(value);
    } catch (error) {
      broken.push({ entry: i + 1, message: entryProblem(error).slice(0, MAX_LENGTHS.problem) });
    }
  }
  const count = broken.length;
  if (count > 0) log("warn", "platforms.broken_items", { platform, count });
  return { values, broken };
}

function entryProblem(error: unknown): string {
  if (error instanceof AppError) return error.message;
  const [issue] = error instanceof z.ZodError ? error.issues : [];
  return issue ? `${issue.path.join(".")}: ${issue.message}` : "It can't be read.";
}

/** Makes a schema optional: a missing or malformed field becomes null. */
export function optional<Schema extends z.ZodType>(schema: Schema) {
  return schema.nullish().catch(null);
}

export const httpUrl = z.string().refine((text) => parseWebUrl(text) !== null);

/** Returns the canonical BCP 47 tag; null if the text isn't a language tag, or is too long. */
export function toLanguageTag(tag: Text): string | null {
  const text = tag?.replaceAll("_", "-") ?? "";
  return isLanguageTag(text) ? (Intl.getCanonicalLocales(text)[0] ?? null) : null;
}

function toIsoTime(time: Text | number): string | null {
  const date = new Date(typeof time === "number" ? time : Date.parse(time ?? ""));
  return Number.isNaN(date.getTime()) ? null : date.toISOString();
}

function toLine(text: Text): string | null {
  return cleanTitle(text ?? "") || null;
}

function toText(text: Text): string | null {
  return cleanText((text ?? "").trim().slice(0, MAX_LENGTHS.text)) || null;
}

export function mediaNotAvailable(message: string): AppError {
  return new AppError("media_not_available", message);
}

/** Makes what explains the statuses of a server that asks for a login. */
export function loginRequired(message: string) {
  return (_: unknown, status: number): AppError | undefined =>
    status === 401 || status === 403 ? mediaNotAvailable(message) : undefined;
}

/** Waits for the first request of a listing. Throws `not_found` if it throws `original_removed`. */
export async function requireFound<Value>(noun: string, response: Promise<Value>): Promise<Value> {
  try {
    return await response;
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== "original_removed") throw error;
    throw new AppError("not_found", `There is no such ${noun}.`, { cause: error });
  }
}

export function singlePage(items: PlatformItem[]): ListingPage {
  return { items, broken: [], next: null };
}

/** A page as the platform sends it, and how an entry is read. */
interface RawPage {
  entries: unknown[];
  toItems: (entry: unknown) => PlatformItem[];
  next: JsonObject | null;
}

/** Fetches a page of a listing and reads its entries. */
export async function fetchListingPage<Schema extends z.ZodType>(
  env: Settings,
  platform: string,
  request: JsonRequest<Schema>,
  read: (response: JsonResponse<z.output<Schema>>) => RawPage,
): Promise<ListingPage> {
  const { entries, toItems, next } = read(await fetchJsonPage(env, request));
  const { values: items, broken } = readEntries(platform, entries, toItems);
  return { items, broken, next };
}

/** Cuts the title of a listing. Throws `upstream_failed` if its parsed request is too long. */
export function toStorableListing(listing: Listing): Listing {
  const { platform, title, url, ref } = listing;
  if (JSON.stringify(ref).length > MAX_STORED.ref) throw tooLong(platform, "the request's listing");
  const isShort = url !== null && url.length <= LIMITS.urlCharacters;
  return { platform, title: cleanTitle(title), url: isShort ? url : null, ref };
}

/** Throws `upstream_failed` if the cursor of the page after this one is too long to be stored. */
export function requireStorableCursor(platform: string, { next }: ListingPage): void {
  if (JSON.stringify(next).length > MAX_STORED.cursor) throw tooLong(platform, "the next page");
}

function tooLong(platform: string, what: string): AppError {
  return new AppError("upstream_failed", `${platform} names ${what} with too long a text.`);
}
