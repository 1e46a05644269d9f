import { z } from "zod";
import { cleanText } from "../clean-text.ts";
import { LIMITS } from "../config.ts";
import { AppError, failureOf } from "../errors.ts";
import { isLanguageTag } from "../language-tag.ts";
import { log } from "../log.ts";
import { cleanTitle } from "../title.ts";
import { parseWebUrl } from "../web-url.ts";
import type { BrokenEntry, Listing, PlatformItem, ImportRequest } from "./platform.ts";

const MAX_LENGTHS = { text: 5000, tags: 50, tag: 100, problem: 200 } as const;

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
const MAX_STORED = { id: LIMITS.urlCharacters, handle: 2 * LIMITS.urlCharacters } as const;

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
      values.push(...read(entry));
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

/** An http or https URL. */
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
  return { items, broken: [], next: null, validators, unchanged: false };
}

export const UNCHANGED = { items: [], broken: [], next: null, validators: null, unchanged: true };
