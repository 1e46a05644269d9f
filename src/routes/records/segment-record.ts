import { z } from "@hono/zod-openapi";
import { EVIDENCE_KINDS } from "../../evidence-kind.ts";
import type { MediaUrlSigner } from "../../http/signed-url.ts";
import type { Signal } from "../../search/fuse.ts";
import type { Hit, HitAsset, HitStep } from "../../search/hits.ts";
import { keyframeKey, mediaKey } from "../../store/r2/object-keys.ts";
import { ASSET_TYPES, type Segment } from "../../types.ts";
import { assetIdFields } from "./asset-record.ts";
import { EXAMPLE_TOKEN, idField } from "./fields.ts";
import { jsonObject } from "./index-record.ts";

const fraction = (description: string, example: number) =>
  z.number().describe(description).openapi({ example });

const box = z.object({
  label: z.string().describe("What was detected.").openapi({ example: "cup" }),
  score: fraction("Confidence of the detection, from 0 to 1.", 0.83),
  x: fraction("Left edge as a fraction of the image's width.", 0.41),
  y: fraction("Top edge as a fraction of the image's height.", 0.3),
  width: fraction("Width as a fraction of the image's width.", 0.12),
  height: fraction("Height as a fraction of the image's height.", 0.2),
});

const mask = z.object({
  size: z
    .tuple([z.int(), z.int()])
    .describe("Height and width of the mask in pixels.")
    .openapi({ type: "array", items: { type: "integer" }, minItems: 2, maxItems: 2 })
    .openapi({ example: [360, 640] }),
  counts: z
    .string()
    .describe("Pixels of the mask as compressed run lengths (COCO RLE), column by column.")
    .openapi({ example: "PQ71N2f0M4L3" }),
});

const assetIdOf = (kind: string, other: string) => `Id of the ${kind}; null for ${other}.`;
const seconds = (edge: string, example: number) =>
  z
    .number()
    .nullable()
    .describe(`${edge} in seconds from the beginning of the video; null for an image.`)
    .openapi({ example });

const signal = (description: string) => z.number().optional().describe(description);

/** A segment outside of a search. */
export const segmentRecord = z
  .object({
    segment_id: idField("segment", "Id of the segment."),
    index_name: z.string().describe("Name of the index.").openapi({ example: "holidays" }),
    asset_id: idField("asset", "Id of the video or image."),
    asset_type: z.enum(ASSET_TYPES).describe("Kind of the asset."),
    video_id: idField("asset", assetIdOf("video", "an image")).nullable(),
    image_id: z
      .string()
      .nullable()
      .describe(assetIdOf("image", "a video"))
      .openapi({ example: null }),
    start_seconds: seconds("Start", 41.2),
    end_seconds: seconds("End", 46.8),
    caption: z
      .string()
      .describe("What is seen, in a sentence; empty if nothing was recognised.")
      .openapi({ example: "A woman drops a cup in a kitchen." }),
    caption_model: z
      .string()
      .nullable()
      .describe("Model that wrote the caption. `template`: the detected labels in a sentence.")
      .openapi({ example: "@cf/google/gemma-4-26b-a4b-it" }),
    transcript: z
      .string()
      .describe("What is said in the segment; empty if nothing is.")
      .openapi({ example: "Oh no, that was my favourite cup." }),
    on_screen_text: z
      .string()
      .describe("Text that was read in the image; empty if there is none.")
      .openapi({ example: "SCENE 4" }),
    labels: z
      .array(z.string())
      .describe("Labels of what was detected.")
      .openapi({ example: ["person", "cup"] }),
    boxes: z
      .array(box)
      .nullable()
      .describe("Where it is seen, as fractions of the frame from the top left; null if unknown."),
    mask: z
      .union([mask, z.null()])
      .describe("Pixels of what the query means, with `use_masks`; else null.")
      .openapi({ example: null }),
    title: z.string().describe("Title of the asset.").openapi({ example: "kitchen.mp4" }),
    metadata: jsonObject,
    thumbnail_url: z
      .url()
      .nullable()
      .describe("URL of the keyframe as JPEG, valid for an hour; null if there is none.")
      .openapi({ example: `https://search.your-site.dev/media/${EXAMPLE_TOKEN}/thumbnail.jpg` }),
    clip_url: z
      .url()
      .describe(
        "URL of the file, or of its working copy, valid for an hour; players start at the segment.",
      )
      .openapi({
        example: `https://search.your-site.dev/media/${EXAMPLE_TOKEN}/kitchen.mp4#t=41.2,46.8`,
      }),
  })
  .openapi("Segment", { description: "An image, or a time range of a video." });

const evidenceField = z.array(
  z.object({
    kind: z
      .enum(EVIDENCE_KINDS)
      .describe("What matched: the image, what is said, text in the image, the caption."),
    score: z.number().describe("Strength of this evidence, from 0 to 1.").openapi({
      example: 0.88,
    }),
    text: z
      .string()
      .optional()
      .describe("Excerpt as HTML text, with the matching words in `<mark>` elements.")
      .openapi({ example: "A woman <mark>drops</mark> a <mark>cup</mark> in a kitchen." }),
  }),
);

/** A step of a sequence, and the segment that was found for it. */
export const hitStep = z.object({
  query: z
    .string()
    .nullable()
    .describe("What the step asks for, as it was searched for; null with `similar_to`.")
    .openapi({ example: "a boat" }),
  similar_to: z
    .string()
    .nullable()
    .describe("Id of what the step is like; null with `query`.")
    .openapi({ example: null }),
  segment: segmentRecord,
  score: z
    .number()
    .min(0)
    .max(1)
    .describe("Probability that the segment is what the step asks for.")
    .openapi({ example: 0.95 }),
  evidence: evidenceField.describe("Why the segment was found for the step, strongest first."),
});

/** A segment that matches a query. */
export const hitRecord = segmentRecord
  .extend({
    rank: z.int().min(1).describe("Position in the result; 1 is the best.").openapi({ example: 1 }),
    score: z
      .number()
      .min(0)
      .max(1)
      .describe("Probability that the segment is relevant, from 0 to 1.")
      .openapi({ example: 0.92 }),
    evidence: evidenceField.describe("Why the segment was found, strongest first."),
    conditions: z
      .array(
        z.object({
          kind: z.enum(["all", "none"]).describe("Whether it has to be there, or mustn't be."),
          query: z.string().nullable().describe("What was asked for; null for an example."),
          similar_to: z.string().nullable().describe("Id of the example; null for words."),
          score: z.number().describe("Probability that it is there; of `none`, that it isn't."),
          evidence: evidenceField.describe(
            "What that rests on, strongest first. Of `none`: each kind that was examined, with " +
              "what speaks for its being there. 0 is nothing: no label, not said, not written.",
          ),
        }),
      )
      .optional()
      .describe("How `all` and `none` are met, in the order of the request. Absent without them."),
    duplicates: z
      .array(z.string())
      .describe("Ids of near-duplicate segments that were collapsed into this one.")
      .openapi({ example: [] }),
    signals: z
      .object({
        term_coverage: signal("Share of the query's terms in the text, weighted by rarity, 0–1."),
        bm25_normalized: signal("BM25 over the query's maximum, 0–1."),
        label_coverage: signal("Share of the query's terms in labels and template captions, 0–1."),
        text_margin: signal("Cosine of the text embeddings minus the mean of the 100 nearest."),
        image_similarity: signal("Cosine of the keyframe or a region of it."),
        image_margin: signal("That cosine minus the mean of the 100 nearest."),
        copy_similarity: signal("Similarity to a copy of the example, 0–1."),
      } satisfies Record<Signal, z.ZodType>)
      .describe("Signals from which the score was computed. docs/ranking.md lists them.")
      .openapi({ example: { term_coverage: 1, bm25_normalized: 0.94, image_similarity: 0.31 } }),
    steps: z
      .array(hitStep)
      .optional()
      .describe(
        "With `sequence`: what was found for each step, in order. The hit is then the segment of " +
          "the first step, from its start to the end of the last, and `score` the probability of all.",
      ),
  })
  .openapi("Hit", { description: "A segment that a search found." });

export async function toSegmentRecord(
  segment: Segment,
  asset: HitAsset,
  signUrl: MediaUrlSigner,
): Promise<z.input<typeof segmentRecord>> {
  const { startMs, endMs } = segment;
  const thumbnail = segment.hasKeyframe ? keyframeKey(asset, segment.keyframeMs) : null;
  // W3C Media Fragment: a player starts and stops at these times.
  const fragment = startMs === null ? "" : `#t=${startMs / 1000},${endMs! / 1000}`;
  return {
    segment_id: segment.segmentId,
    index_name: asset.indexName,
    asset_id: asset.assetId,
    ...assetIdFields(asset.assetType, asset.assetId),
    start_seconds: startMs === null ? null : startMs / 1000,
    end_seconds: endMs === null ? null : endMs / 1000,
    caption: segment.caption,
    caption_model: segment.captionModel,
    transcript: segment.transcript,
    on_screen_text: segment.onScreenText,
    labels: segment.labels,
    boxes: segment.boxes,
    mask: null,
    title: asset.title,
    metadata: asset.metadata,
    thumbnail_url: thumbnail && (await signUrl(thumbnail, "thumbnail.jpg")),
    clip_url: (await signUrl(mediaKey(asset), asset.title)) + fragment,
  };
}

/** Converts a hit. Its times are those of the matching time range, if only a part matched. */
export async function toHitRecord(hit: Hit, signUrl: MediaUrlSigner): Promise<HitRecord> {
  const { segment, asset, timeRange, boxes, mask } = hit;
  const { rank, score, evidence, signals, duplicates } = hit;
  const record = await toSegmentRecord({ ...segment, ...timeRange }, asset, signUrl);
  const found = { ...record, boxes, mask, rank, score, evidence, signals, duplicates };
  const steps =
    hit.steps && (await Promise.all(hit.steps.map((step) => toStep(step, hit, signUrl))));
  const conditions = hit.conditions?.map(({ similarTo, ...condition }) => {
    return { ...condition, similar_to: similarTo };
  });
  return { ...found, ...(steps && { steps }), ...(conditions && { conditions }) };
}

type HitRecord = z.input<typeof hitRecord>;

async function toStep(
  { segment, query, similarTo, score, evidence, boxes, mask }: HitStep,
  { asset }: Hit,
  signUrl: MediaUrlSigner,
): Promise<z.input<typeof hitStep>> {
  const record = await toSegmentRecord(segment, asset, signUrl);
  return { query, similar_to: similarTo, segment: { ...record, boxes, mask }, score, evidence };
}
