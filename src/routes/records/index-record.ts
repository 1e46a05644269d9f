import { mapRecord } from "../../field-names.ts";
import type { Context } from "../../http/context.ts";
import {
  calibrationField,
  countField,
  int,
  jsonObject,
  number,
  stateCounts,
  text,
  time,
} from "../../http/fields.ts";
import { strictInt } from "../../http/validation.ts";
import { publicWebhookUrl, webhookUrl } from "../../http/webhook-url.ts";
import * as z from "../../http/zod.ts";
import { isLanguageTag, LANGUAGE_TAG } from "../../language-tag.ts";
import { calibrationState } from "../../search/calibration.ts";
import type { NewMediaIndex } from "../../store/d1/indices.ts";
import { EVENT_TYPES, type Tally, WEBHOOK_EVENTS } from "../../types.ts";

export const indexSettings = z
  .object({
    language: text(
      "Language that is spoken in the videos (BCP 47). Without it, the speech recogniser detects " +
        "the language of each video.",
      "pt-BR",
    )
      .regex(LANGUAGE_TAG, "a language tag (BCP 47) such as en or pt-BR")
      .refine(isLanguageTag, "it is not a language tag (BCP 47) of at most 35 characters")
      .optional(),
    webhook_url: webhookUrl(
      "Public https URL to which events of the index are sent (docs/events.md).",
      "sightline",
    ).optional(),
    webhook_events: z
      .array(z.enum(EVENT_TYPES))
      .max(EVENT_TYPES.length)
      .optional()
      .describe(`Types of events that are sent there. Default: ${WEBHOOK_EVENTS.join(", ")}.`)
      .openapi({ example: ["asset.ready", "asset.failed"] }),
    traverse_every_hours: strictInt()
      .min(1)
      .max(720)
      .nullable()
      .optional()
      .describe(
        "Hours between scheduled traversals, which repair the index and sync followed sources. " +
          "Default 24; null turns them off.",
      )
      .openapi({ example: 24 }),
  })
  .describe("Settings of the index.");

export const indexRecord = z
  .object({
    index_name: text("Name of the index.", "holidays"),
    description: text("What the index is for; empty by default.", "Clips of summer 2026"),
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
    duration_seconds: number("Duration of all videos in seconds.", 1893.4),
    size_bytes: int("Size of all uploaded or fetched files in bytes.", 734_003_200),
    last_traversed_at: time("End of the last repair; null before the first one.").nullable(),
    calibration: calibrationField,
  })
  .openapi("Index", { description: "A named collection of videos and images." });

export function toIndexRecord(
  c: Context,
  index: NewMediaIndex,
  tallies: Tally[],
): z.input<typeof indexRecord> {
  const { videos, images, segments, ...sums } = sumTallies(
    tallies.filter(({ indexId }) => indexId === index.indexId),
  );
  const { webhook_url: url } = index.settings;
  return mapRecord(indexRecord, index, {
    index_name: index.name,
    settings: {
      ...index.settings,
      ...(typeof url === "string" && {
        webhook_url: publicWebhookUrl(url, c.get("caller").scopes),
      }),
    },
    counts: { videos, images, segments },
    ...sums,
    calibration: calibrationState(c.env),
  });
}

/** Sums tallies. Every state other than queued, ready and failed counts as processing. */
export function sumTallies(tallies: Tally[]) {
  const states = { queued: 0, processing: 0, ready: 0, failed: 0 };
  const sums = { videos: 0, images: 0, segments: 0, size_bytes: 0, states };
  let totalMs = 0;
  for (const { assetType, state, assets, segments, durationMs, sizeBytes } of tallies) {
    sums[`${assetType}s`] += assets;
    states[state in states ? (state as keyof typeof states) : "processing"] += assets;
    sums.segments += segments;
    sums.size_bytes += sizeBytes;
    totalMs += durationMs;
  }
  return { ...sums, duration_seconds: totalMs / 1000 };
}
