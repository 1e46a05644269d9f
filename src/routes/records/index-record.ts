import { z } from "@hono/zod-openapi";
import { LIMITS } from "../../config.ts";
import type { Context } from "../../http/context.ts";
import { bodyInt } from "../../http/validation.ts";
import { publicWebhookUrl } from "../../http/webhook-url.ts";
import type { Scope } from "../../keys.ts";
import { isLanguageTag, LANGUAGE_TAG } from "../../language-tag.ts";
import { calibrationState } from "../../search/calibration.ts";
import type { NewMediaIndex } from "../../store/d1/indices.ts";
import type { Tally } from "../../store/d1/tallies.ts";
import type { JsonObject } from "../../types.ts";
import { calibrationField, countField, stateCounts, time } from "./fields.ts";

export const indexName = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, "1 to 64 letters, digits, dots, dashes, underscores")
  .describe(
    "Name of the index, unique in the account: 1 to 64 letters, digits, dots, dashes and " +
      "underscores; the first one is a letter or a digit.",
  );

export const indexParams = z.object({ index_name: indexName.openapi({ example: "holidays" }) });

/** Metadata in a response. */
export const jsonObject = z
  .record(z.string(), z.unknown())
  .describe("JSON object that the user attached. Searches can filter by its fields.")
  .openapi({ example: { year: 2026, camera: "A" } });

export const indexSettings = z
  .object({
    language: z
      .string()
      .regex(LANGUAGE_TAG)
      .refine(isLanguageTag, "it is not a language tag (BCP 47) of at most 35 characters")
      .optional()
      .describe(
        "Language that is spoken in the videos (BCP 47). Without it, the speech recogniser detects " +
          "the language of each video.",
      )
      .openapi({ example: "pt-BR" }),
    webhook_url: z
      .url({ protocol: /^https?$/ })
      .max(LIMITS.urlCharacters)
      .optional()
      .describe(
        "Public https URL to which every event of the index is sent (docs/webhooks.md). Keys " +
          "without the scope `write` see only its origin.",
      )
      .openapi({ example: "https://hooks.your-site.dev/sightline" }),
    traverse_every_hours: bodyInt()
      .min(1)
      .max(720)
      .nullable()
      .optional()
      .describe(
        "Hours between scheduled traversals, which repair the index and sync followed sources. " +
          "Default 24; null turns them off.",
      )
      .openapi({ example: 24 }),
    calibration: z
      .enum(["automatic", "general"])
      .optional()
      .describe(
        "`automatic`, the default: scores are fitted to the judgments of the index once these show " +
          "that it helps. `general`: they never are (docs/judgments.md).",
      )
      .openapi({ example: "automatic" }),
  })
  .describe("Settings of the index.");

export const indexRecord = z
  .object({
    index_name: z.string().describe("Name of the index.").openapi({ example: "holidays" }),
    description: z
      .string()
      .describe("What the index is for; empty by default.")
      .openapi({ example: "Clips of summer 2026" }),
    metadata: jsonObject,
    settings: indexSettings,
    created_at: time("Creation of the index."),
    updated_at: time("Last change of the description, metadata or settings."),
    counts: z
      .object({
        videos: countField("Videos in any state.", 8),
        images: countField("Images in any state.", 5),
        segments: countField("Segments that can be searched.", 214),
      })
      .describe("Contents of the index."),
    states: stateCounts,
    duration_seconds: z
      .number()
      .describe("Duration of all videos in seconds.")
      .openapi({ example: 1893.4 }),
    size_bytes: z
      .int()
      .describe("Size of all uploaded or fetched files in bytes.")
      .openapi({ example: 734_003_200 }),
    last_traversed_at: time("End of the last repair; null before the first one.").nullable(),
    calibration: calibrationField,
  })
  .openapi("Index", { description: "A named collection of videos and images." });

/** Returns the record of an index for the caller. */
export function toIndexRecord(
  c: Context,
  index: NewMediaIndex,
  tallies: Tally[],
): z.input<typeof indexRecord> {
  const indexTallies = tallies.filter(({ indexId }) => indexId === index.indexId);
  const { videos, images, segments, states, duration_seconds, size_bytes } =
    sumTallies(indexTallies);
  return {
    index_name: index.name,
    description: index.description,
    metadata: index.metadata,
    settings: toSettingsRecord(index.settings, c.get("caller").scopes),
    created_at: isoTime(index.createdAt),
    updated_at: isoTime(index.updatedAt),
    counts: { videos, images, segments },
    states,
    duration_seconds,
    size_bytes,
    last_traversed_at: isoTimeOrNull(index.lastTraversedAt),
    calibration: calibrationState(c.env, index.calibration),
  };
}

function toSettingsRecord(settings: JsonObject, scopes: readonly Scope[]): JsonObject {
  const { webhook_url: url } = settings;
  return typeof url === "string"
    ? { ...settings, webhook_url: publicWebhookUrl(url, scopes) }
    : settings;
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
