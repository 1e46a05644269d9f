import { z } from "@hono/zod-openapi";
import { isLanguageTag, LANGUAGE_TAG } from "../language-tag.ts";
import type { Tally } from "../store/tallies.ts";
import type { NewMediaIndex } from "../store/indices.ts";
import { bodyInt } from "../http/validation.ts";

export const indexName = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, "1 to 64 letters, digits, dots, dashes, underscores")
  .openapi({ example: "holidays" });

export const indexParams = z.object({ index_name: indexName });

export const jsonObject = z.record(z.string(), z.unknown());

export const indexSettings = z.object({
  language: z
    .string()
    .regex(LANGUAGE_TAG)
    .refine(isLanguageTag, "it is not a language tag (BCP 47) of at most 35 characters")
    .optional()
    .openapi({ example: "pt-BR" }),
  webhook_url: z.url({ protocol: /^https?$/ }).optional(),
  traverse_every_hours: bodyInt().min(1).max(720).nullable().optional(),
});

export const indexRecord = z
  .object({
    index_name: z.string(),
    description: z.string(),
    metadata: jsonObject,
    settings: indexSettings,
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
    counts: z.object({ videos: z.int(), images: z.int(), segments: z.int() }),
    states: z.object({
      queued: z.int(),
      processing: z.int(),
      ready: z.int(),
      failed: z.int(),
    }),
    duration_seconds: z.number(),
    size_bytes: z.int(),
    last_traversed_at: z.iso.datetime().nullable(),
  })
  .openapi("Index");

export function toIndexRecord(index: NewMediaIndex, tallies: Tally[]): z.input<typeof indexRecord> {
  const indexTallies = tallies.filter(({ indexId }) => indexId === index.indexId);
  const { videos, images, segments, states, duration_seconds, size_bytes } =
    sumTallies(indexTallies);
  return {
    index_name: index.name,
    description: index.description,
    metadata: index.metadata,
    settings: index.settings,
    created_at: isoTime(index.createdAt),
    updated_at: isoTime(index.updatedAt),
    counts: { videos, images, segments },
    states,
    duration_seconds,
    size_bytes,
    last_traversed_at: isoTimeOrNull(index.lastTraversedAt),
  };
}

/** Sums tallies. Every state other than queued, ready and failed counts as processing. */
export function sumTallies(tallies: Tally[]) {
  const inState = (...states: string[]) =>
    sum(
      tallies.filter(({ state }) => states.includes(state)),
      "assets",
    );
  const [queued, ready, failed] = [inState("queued"), inState("ready"), inState("failed")];
  return {
    videos: sum(
      tallies.filter(({ assetType }) => assetType === "video"),
      "assets",
    ),
    images: sum(
      tallies.filter(({ assetType }) => assetType === "image"),
      "assets",
    ),
    segments: sum(tallies, "segments"),
    states: {
      queued,
      processing: sum(tallies, "assets") - queued - ready - failed,
      ready,
      failed,
    },
    duration_seconds: sum(tallies, "durationMs") / 1000,
    size_bytes: sum(tallies, "sizeBytes"),
  };
}

function sum(tallies: Tally[], field: "assets" | "segments" | "durationMs" | "sizeBytes"): number {
  return tallies.reduce((total, tally) => total + tally[field], 0);
}

export function isoTime(epochMs: number): string {
  return new Date(epochMs).toISOString();
}

export function isoTimeOrNull(epochMs: number | null): string | null {
  return epochMs === null ? null : isoTime(epochMs);
}
