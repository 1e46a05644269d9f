import type { Failure } from "../errors.ts";
import type { AssetType, JsonObject } from "../types.ts";
import type { Settings } from "./settings.ts";

/** What one of the four endpoints asks for. */
export type Wanted =
  /** One video. */
  | { kind: "url"; url: string }
  /** A playlist, a channel or an account. One of the two is given. */
  | { kind: "playlist"; url?: string; playlistId?: string }
  | { kind: "search"; query: string }
  /** Whoever posts pictures. One of the two is given. */
  | { kind: "profile"; url?: string; username?: string };

/** One video or picture that a platform has. JSON all through: it is kept in D1. */
export interface PlatformItem {
  /**
   * Unique within its platform for ever; of a federated one with the host ("tube.example/9c9de5e8-…").
   * Each picture of a post with several has its own.
   */
  platformId: string;
  assetType: AssetType;
  /** For people. */
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
  /** What `media` needs besides: opaque, small. */
  handle: JsonObject;
  /** Why its file can't be had, where the listing says so already. */
  refused: Failure | null;
}

/** The list that something asked for leads to: opaque, JSON, kept with a followed source. */
export interface Listing {
  platform: string;
  title: string;
  url: string | null;
  of: JsonObject;
}

export interface ListingPage {
  /** As the platform orders them. A broken one is left out, so that there may be none of many. */
  items: PlatformItem[];
  /** Where the next page is; null after the last, which an endless list hasn't. Pages may overlap. */
  next: JsonObject | null;
  /** For a conditional request of this page next time; where `unchanged`, those of this time hold on. */
  validators: JsonObject | null;
  /** Nothing has changed since `validators`, and `items` is empty. */
  unchanged: boolean;
}

/** Where a file and its captions are, for the moment. */
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
 * What a platform can be asked. All but `matches` throw what `askJson` does, and
 * `platform_not_configured` where the operator hasn't set what they need.
 */
export interface Platform {
  name: string;
  kinds: Wanted["kind"][];
  /** What the operator must have set for it to be asked for something of that kind. */
  needs?: (kind: Wanted["kind"]) => (keyof Settings)[];
  /** Whether it looks like one of this platform's, without asking anybody. */
  matches(wanted: Wanted, env: Settings): boolean;
  /** Throws `not_found`, too. */
  resolve(env: Env, wanted: Wanted): Promise<Listing>;
  /** The page at `at`, the first where that is null. */
  list(
    env: Env,
    listing: Listing,
    at: JsonObject | null,
    validators: JsonObject | null,
  ): Promise<ListingPage>;
  /**
   * Where an item's file is now: asked just before it is fetched, for such URLs expire. Throws
   * `media_not_available`, and `original_removed` where the original is gone.
   */
  media(env: Env, item: PlatformItem): Promise<Media>;
}
