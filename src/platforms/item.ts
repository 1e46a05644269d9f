import { z } from "zod";
import { cleanText } from "../clean-text.ts";
import { AppError, failureOf } from "../errors.ts";
import { isLanguageTag } from "../language-tag.ts";
import { log } from "../log.ts";
import { cleanTitle } from "../title.ts";
import { parseWebUrl } from "../web-url.ts";
import type { Listing, PlatformItem, ImportRequest } from "./platform.ts";

const MAX_LENGTHS = { text: 5000, tags: 50, tag: 100 } as const;

type Text = string | null | undefined;

/** An item as the platform describes it. */
interface RawItem {
  platformId: string;
  assetType: PlatformItem["assetType"];
  pageUrl: string;
  title: Text;
  handle: PlatformItem["handle"];
  author?: Text;
  licence?: Text;
  /** Time in any format that `Date.parse` reads. */
  publishedAt?: Text;
  description?: Text;
  tags?: string[];
  language?: Text;
  altText?: Text;
  /** Reason that the file can't be downloaded. */
  unavailable?: string | undefined;
}

/** Normalises an item: shortens its texts, and drops malformed times and languages. */
export function toPlatformItem(raw: RawItem): PlatformItem {
  const unavailable =
    raw.unavailable === undefined ? null : failureOf(mediaNotAvailable(raw.unavailable));
  return {
    platformId: raw.platformId,
    assetType: raw.assetType,
    pageUrl: raw.pageUrl,
    title: toLine(raw.title) ?? raw.platformId,
    author: toLine(raw.author),
    licence: toLine(raw.licence),
    publishedAt: toIsoTime(raw.publishedAt),
    description: toText(raw.description),
    tags: (raw.tags ?? []).slice(0, MAX_LENGTHS.tags).map((tag) => tag.slice(0, MAX_LENGTHS.tag)),
    language: toLanguageTag(raw.language),
    altText: toText(raw.altText),
    handle: raw.handle,
    unavailable,
  };
}

/** Parses items, and drops those that don't match the schema. Logs their number. */
export function parseItems<Schema extends z.ZodType>(
  platform: string,
  schema: Schema,
  items: unknown[],
): z.output<Schema>[] {
  const valid = items.flatMap((item) => {
    const parsed = schema.safeParse(item);
    return parsed.success ? [parsed.data] : [];
  });
  const brokenCount = items.length - valid.length;
  if (brokenCount > 0) log("warn", "platforms.broken_items", { platform, count: brokenCount });
  return valid;
}

/** Makes a schema optional: a missing or malformed field becomes null. */
export function optional<Schema extends z.ZodType>(schema: Schema) {
  return schema.nullish().catch(null);
}

/** An http or https URL. */
export const httpUrl = z.string().refine((text) => parseWebUrl(text) !== null);

/** Returns the canonical BCP 47 tag; null if the text isn't a language tag, or is too long. */
export function toLanguageTag(tag: Text): string | null {
  const text = tag?.replaceAll("_", "-") ?? "";
  return isLanguageTag(text) ? (Intl.getCanonicalLocales(text)[0] ?? null) : null;
}

function toIsoTime(text: Text): string | null {
  const time = Date.parse(text ?? "");
  return Number.isNaN(time) ? null : new Date(time).toISOString();
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

export function unsupportedRequest(platform: string, request: ImportRequest): AppError {
  return new AppError("unsupported_platform", `That is no ${request.kind} of ${platform}.`);
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

/** Makes the page of a single-page listing. */
export function singlePage(items: PlatformItem[], validators: Listing["ref"] | null = null) {
  return { items, next: null, validators, unchanged: false };
}

export const UNCHANGED = { items: [], next: null, validators: null, unchanged: true };
