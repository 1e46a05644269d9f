import type { Failure } from "../errors.ts";
import type { AssetType, JsonObject } from "../types.ts";
import type { Settings } from "./settings.ts";

/** Request of one of the four import endpoints. */
export type ImportRequest =
  /** One video. */
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
  /** URL of the web page. */
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

/** An entry of a page that can't be read. */
export interface BrokenEntry {
  /** Its number on the page, from 1. */
  entry: number;
  /** What is wrong with it. */
  message: string;
}

export interface ListingPage {
  /** Items in the platform's order. A page may have none. */
  items: PlatformItem[];
  /** Entries that are left out. */
  broken: BrokenEntry[];
  /** Cursor of the next page; null on the last page. Pages may overlap. */
  next: JsonObject | null;
  /** Validators for the next conditional request; null if `unchanged`: stored ones stay valid. */
  validators: JsonObject | null;
  /** Whether the page hasn't changed since `validators`; `items` is empty then. */
  unchanged: boolean;
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
  format: "vtt" | "srt";
}

/**
 * A platform to import from. `resolve`, `list` and `media` throw what `fetchJson` throws, and
 * `platform_not_configured` if a setting is missing.
 */
export interface Platform {
  name: string;
  kinds: ImportRequest["kind"][];
  /** Settings that requests of a kind require. */
  requiredSettings?: (kind: ImportRequest["kind"]) => (keyof Settings)[];
  /** Whether the platform supports the request, judged by its form. Sends nothing. */
  matches(request: ImportRequest, env: Settings): boolean;
  /** Throws `not_found` if the platform has no such listing. */
  resolve(env: Env, request: ImportRequest): Promise<Listing>;
  /** Fetches the page at `cursor`; the first page if it is null. */
  list(
    env: Env,
    listing: Listing,
    cursor: JsonObject | null,
    validators: JsonObject | null,
  ): Promise<ListingPage>;
  /**
   * Returns the current URLs of an item's file and captions. Call `media` right before the
   * download: the URLs expire. Throws `media_not_available`, and `original_removed` if the item was
   * deleted.
   */
  media(env: Env, item: PlatformItem): Promise<Media>;
}
