import { z } from "zod";
import { AppError, failureOf } from "../errors.ts";
import { log } from "../log.ts";
import type { Listing, PlatformItem, Wanted } from "./platform.ts";

const MOST = { title: 300, text: 5000, tags: 50, tag: 100 } as const;

type Text = string | null | undefined;

/** What a platform says of one of its items, as it says it. */
interface Told {
  platformId: string;
  assetType: PlatformItem["assetType"];
  pageUrl: string;
  title: Text;
  handle: PlatformItem["handle"];
  author?: Text;
  licence?: Text;
  /** In any form that `Date` reads. */
  publishedAt?: Text;
  description?: Text;
  tags?: string[];
  language?: Text;
  altText?: Text;
  /** Why its file can't be had. */
  refused?: string | undefined;
}

/** An item with its texts cut to size, and what is malformed left out. */
export function platformItem(told: Told): PlatformItem {
  const refused = told.refused === undefined ? null : failureOf(notAvailable(told.refused));
  return {
    platformId: told.platformId,
    assetType: told.assetType,
    pageUrl: told.pageUrl,
    title: cut(told.title, MOST.title) ?? told.platformId,
    author: cut(told.author, MOST.title),
    licence: cut(told.licence, MOST.title),
    publishedAt: timeOf(told.publishedAt),
    description: cut(told.description, MOST.text),
    tags: (told.tags ?? []).slice(0, MOST.tags).map((tag) => tag.slice(0, MOST.tag)),
    language: languageOf(told.language),
    altText: cut(told.altText, MOST.text),
    handle: told.handle,
    refused,
  };
}

/** Those that have the shape; how many haven't is logged. */
export function readItems<Schema extends z.ZodType>(
  platform: string,
  schema: Schema,
  items: unknown[],
): z.output<Schema>[] {
  const read = items.flatMap((item) => {
    const parsed = schema.safeParse(item);
    return parsed.success ? [parsed.data] : [];
  });
  const broken = items.length - read.length;
  if (broken > 0) log("warn", "platforms.broken_items", { platform, broken });
  return read;
}

/** A field that may be missing, null or of another shape: null then. */
export function maybe<Schema extends z.ZodType>(schema: Schema) {
  return schema.nullish().catch(null);
}

/** A URL that a person can be sent to. */
export const webUrl = z
  .string()
  .refine((text) => /^https?:$/.test(URL.parse(text)?.protocol ?? ""));

/** The canonical tag of BCP 47; null where it is none. */
export function languageOf(tag: Text): string | null {
  try {
    return tag ? (Intl.getCanonicalLocales(tag.replaceAll("_", "-"))[0] ?? null) : null;
  } catch {
    return null;
  }
}

function timeOf(text: Text): string | null {
  const time = Date.parse(text ?? "");
  return Number.isNaN(time) ? null : new Date(time).toISOString();
}

function cut(text: Text, most: number): string | null {
  const trimmed = text?.trim() ?? "";
  return trimmed === "" ? null : trimmed.slice(0, most).toWellFormed();
}

export function notAvailable(why: string): AppError {
  return new AppError("media_not_available", why);
}

export function unsupported(platform: string, wanted: Wanted): AppError {
  return new AppError("unsupported_platform", `That is no ${wanted.kind} of ${platform}.`);
}

/** Runs the first request of a listing, by which it turns out whether there is such a thing. */
export async function requireFound<Value>(what: string, asking: Promise<Value>): Promise<Value> {
  try {
    return await asking;
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== "original_removed") throw error;
    throw new AppError("not_found", `There is no such ${what}.`, { cause: error });
  }
}

/** A page of a listing that has only one. */
export function onlyPage(items: PlatformItem[], validators: Listing["of"] | null = null) {
  return { items, next: null, validators, unchanged: false };
}

export const UNCHANGED = { items: [], next: null, validators: null, unchanged: true };
