import { z } from "zod";
import { cleanText } from "../../clean-text.ts";
import { LIMITS } from "../../config.ts";
import { cleanTitle } from "../../title.ts";
import type { AssetSource } from "../../types.ts";
import { hasUserInfo, parseWebUrl } from "../../web-url.ts";

const MAX_CHARACTERS = 10_000;

const line = z.string().max(MAX_CHARACTERS).transform(cleanTitle);
const text = z.string().max(MAX_CHARACTERS).transform(cleanText);
const url = z
  .string()
  .max(LIMITS.urlCharacters)
  .refine((value) => isPlainUrl(value), { params: { type: "url_parsing" } });

function isPlainUrl(value: string): boolean {
  const parsed = parseWebUrl(value);
  return parsed !== null && !hasUserInfo(parsed);
}

/** Where an archived asset came from, with the fields that an ingest of its kind stores. */
export const archivedSource = z
  .object({
    kind: z.enum(["upload", "url", "videonet", "photonet"]),
    url: url.exactOptional(),
    platform: line.exactOptional(),
    platform_id: z.string().max(LIMITS.urlCharacters).transform(cleanText).exactOptional(),
    author: line.nullable().exactOptional(),
    licence: line.nullable().exactOptional(),
    published_at: z.iso.datetime().max(40).nullable().exactOptional(),
    description: text.nullable().exactOptional(),
    alt_text: text.nullable().exactOptional(),
  })
  .refine((source) => source.kind === "upload" || source.url !== undefined, {
    error: "It has no url",
    params: { type: "value_error" },
  })
  .refine(
    ({ kind, platform, platform_id }) =>
      kind === "upload" || kind === "url" || (platform !== undefined && platform_id !== undefined),
    { error: "It has no platform, or no platform_id", params: { type: "value_error" } },
  )
  .transform((source): AssetSource => {
    const { kind } = source;
    if (kind === "upload") return { kind };
    return kind === "url" ? { kind, url: source.url! } : { ...source };
  });
