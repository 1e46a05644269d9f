import { invalid } from "../../errors.ts";
import { mapRecord } from "../../field-names.ts";
import {
  type Context,
  countWork,
  createMediaUrlSigner,
  type MediaUrlSigner,
} from "../../http/context.ts";
import {
  assetIdFields,
  calibrationField,
  countField,
  idField,
  jsonObject,
  list,
  mediaUrl,
  number,
  oneOf,
  orNull,
  share,
  text,
} from "../../http/fields.ts";
import { INVALID_CURSOR, pageFields } from "../../http/pagination.ts";
import * as z from "../../http/zod.ts";
import type { Signal } from "../../search/fuse.ts";
import type { Hit, HitAsset, HitStep } from "../../search/hits.ts";
import type { QueryInterpretation } from "../../search/query.ts";
import type { RankPosition, SearchRequest } from "../../search/request.ts";
import { type ResultPage, type SearchResults, toPage } from "../../search/results.ts";
import { keyframeKey, mediaKey } from "../../store/r2/object-keys.ts";
import type { Timings } from "../../timings.ts";
import { ASSET_TYPES, EVIDENCE_KINDS, type Segment, type Tally } from "../../types.ts";
import { sumTallies } from "./index-record.ts";

const box = z.object({
  label: text("What was detected.", "cup"),
  score: number("Confidence of the detection, from 0 to 1.", 0.83),
  x: number("Left edge as a fraction of the image's width.", 0.41),
  y: number("Top edge as a fraction of the image's height.", 0.3),
  width: number("Width as a fraction of the image's width.", 0.12),
  height: number("Height as a fraction of the image's height.", 0.2),
});

const mask = z.object({
  size: z
    .tuple([z.int(), z.int()])
    .describe("Height and width of the mask in pixels.")
    .openapi({ type: "array", items: { type: "integer" }, minItems: 2, maxItems: 2 })
    .openapi({ example: [360, 640] }),
  counts: text("Pixels as compressed run lengths (COCO RLE), column by column.", "PQ71N2f0M4L3"),
});

const assetIdOf = (kind: string, other: string) => `Id of the ${kind}; null for ${other}.`;
const seconds = (edge: string, example: number) =>
  number(`${edge} in seconds from the video's beginning; null for an image.`, example).nullable();

const signal = (description: string) => z.number().optional().describe(description);

export const segmentRecord = z
  .object({
    segment_id: idField("segment", "Id of the segment."),
    index_name: text("Name of the index.", "holidays"),
    asset_id: idField("asset", "Id of the video or image."),
    asset_type: oneOf(ASSET_TYPES, "Kind of the asset."),
    video_id: idField("asset", assetIdOf("video", "an image")).nullable(),
    image_id: text(assetIdOf("image", "a video"), null).nullable(),
    start_seconds: seconds("Start", 41.2),
    end_seconds: seconds("End", 46.8),
    caption: text("What is seen, in a sentence; or empty.", "A woman with a cup in a kitchen."),
    caption_model: text(
      "Model that wrote the caption. `template`: the detected labels in a sentence.",
      "@cf/google/gemma-4-26b-a4b-it",
    ).nullable(),
    transcript: text("What is said in it; or empty.", "Oh no, that was my favourite cup."),
    on_screen_text: text("Text that was read in the image; empty if there is none.", "SCENE 4"),
    labels: list(z.string(), "Labels of what was detected.", ["person", "cup"]),
    boxes: z
      .array(box)
      .nullable()
      .describe("Where it is seen, as fractions of the frame from the top left; null if unknown."),
    mask: orNull(mask, "Pixels of what the query means, with `use_masks`; else null.", null),
    title: text("Title of the asset.", "kitchen.mp4"),
    folder: text("Folder that its file came in; or empty.", "Trip/Day 1"),
    metadata: jsonObject,
    thumbnail_url: mediaUrl(
      "URL of the keyframe as JPEG, valid for an hour; null if there is none.",
      "thumbnail.jpg",
    ).nullable(),
    clip_url: mediaUrl(
      "URL of the file, or of its working copy, valid for an hour; players start at the segment.",
      "kitchen.mp4#t=41.2,46.8",
    ),
  })
  .openapi("Segment", { description: "An image, or a time range of a video." });

const evidenceField = z.array(
  z.object({
    kind: oneOf(EVIDENCE_KINDS, "What matched: the image, speech, text in the image, the caption."),
    score: number("Strength of this evidence, from 0 to 1.", 0.88),
    text: text(
      "Excerpt as HTML text, with the matching words in `<mark>` elements.",
      "A woman <mark>drops</mark> a <mark>cup</mark> in a kitchen.",
    ).optional(),
  }),
);

const hitStep = z.object({
  query: text("What the step was searched by; null with `similar_to`.", "a boat").nullable(),
  similar_to: text("Id of what the step is like; null with `query`.", null).nullable(),
  segment: segmentRecord,
  score: share("Probability that the segment is what the step asks for.", 0.95),
  evidence: evidenceField.describe("Why the segment was found for the step, strongest first."),
});

export const hitRecord = segmentRecord
  .extend({
    rank: z.int().min(1).describe("Position in the result; 1 is the best.").openapi({ example: 1 }),
    score: share("Probability that the segment is relevant, from 0 to 1.", 0.92),
    evidence: evidenceField.describe("Why the segment was found, strongest first."),
    conditions: z
      .array(
        z.object({
          kind: oneOf(["all", "none"], "Whether it has to be there, or mustn't be."),
          query: text("What was asked for; null for an example.").nullable(),
          similar_to: text("Id of the example; null for words.").nullable(),
          score: number("Probability that it is there; of `none`, that it isn't."),
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
      .describe("Signals from which the score was computed. docs/search.md#signals lists them.")
      .openapi({ example: { term_coverage: 1, bm25_normalized: 0.94, image_similarity: 0.31 } }),
    steps: list(
      hitStep,
      "With `sequence`: what was found for each step, in order. The hit is then the segment of " +
        "the first step, from its start to the end of the last, and `score` the probability of all.",
    ).optional(),
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
  return mapRecord(
    segmentRecord,
    { ...asset, ...segment },
    {
      ...assetIdFields(asset.assetType, asset.assetId),
      folder: (asset.technical["folder"] as string | undefined) ?? "",
      start_seconds: startMs === null ? null : startMs / 1000,
      end_seconds: endMs === null ? null : endMs / 1000,
      mask: null,
      thumbnail_url: thumbnail && (await signUrl(thumbnail, "thumbnail.jpg")),
      clip_url: (await signUrl(mediaKey(asset), asset.title)) + fragment,
    },
  );
}

/** Converts a hit. Its times are those of the matching time range, if only a part matched. */
export async function toHitRecord(
  { segment, asset, timeRange, steps, conditions, ...hit }: Hit,
  signUrl: MediaUrlSigner,
): Promise<z.input<typeof hitRecord>> {
  const toStep = async ({ segment: own, similarTo, boxes, mask, ...step }: HitStep) => {
    const record = await toSegmentRecord(own, asset, signUrl);
    return { ...step, similar_to: similarTo, segment: { ...record, boxes, mask } };
  };
  return {
    ...(await toSegmentRecord({ ...segment, ...timeRange }, asset, signUrl)),
    ...hit,
    ...(steps && { steps: await Promise.all(steps.map(toStep)) }),
    ...(conditions && {
      conditions: conditions.map(({ similarTo, ...condition }) => {
        return { ...condition, similar_to: similarTo };
      }),
    }),
  };
}

export const keyField = z
  .union([z.string(), z.number(), z.boolean(), z.null()])
  .describe(
    "Value of the field that the group shares: an asset's id, a label, a text, number or boolean, " +
      "or a year, month or day; null for what has none.",
  )
  .openapi({ example: "Lumen One" });

/** Values among the hits of a search, by the names in `facets`. */
const facetsField = z
  .record(
    z.string(),
    z.array(z.object({ key: keyField, count: countField("Hits on all pages that have it.", 12) })),
  )
  .describe(
    "With `facets`: by each of their names, the most frequent values among the hits of all pages " +
      "(`total`), at most 20. A hit with several values counts for each.",
  )
  .openapi({ example: { "metadata.camera": [{ key: "Lumen One", count: 12 }] } });

export const searchResult = z
  .object({
    segments: z.array(hitRecord).describe("Segments, best first. Empty while the job is queued."),
    ...pageFields,
    query: z
      .object({
        excluded: z
          .array(z.string())
          .describe("Words and phrases that no segment has: those after a minus.")
          .openapi({ example: ["carpenter"] }),
        corrected: text(
          "The query that was searched for instead: with a word of the index for a word that no " +
            "segment has. Null if nothing was corrected; `correct: false` searches as written.",
          "accordion player",
        ).nullable(),
        corrected_conditions: z
          .array(
            z.object({
              kind: z.enum(["all", "none"]).describe("The field that has it."),
              query: text("The text as sent."),
              corrected: text("The text that was searched for instead."),
            }),
          )
          .optional()
          .describe("Texts of `all` and `none` that were corrected. Absent if none was.")
          .openapi({ example: [{ kind: "all", query: "a lanten", corrected: "a lantern" }] }),
        hint: text("What may find more of what is meant; null without a hint.", null).nullable(),
        suggested: z
          .object({
            query: text("What remains of the query; null for nothing.").nullable(),
            none: z.array(z.string()).describe("What the query says isn't there."),
          })
          .nullable()
          .describe("The query with `none`, if its words say that something isn't there.")
          .openapi({ example: null }),
      })
      .optional()
      .describe("What the query was taken for. Absent while the job is queued."),
    facets: facetsField.optional(),
    calibration: calibrationField,
    job_id: text("Id of the job, with `queue_job`: its `result` is that of the search.").optional(),
    state: z.literal("queued").optional().describe("State of the job, with `queue_job`."),
  })
  .openapi("SearchResult", { description: "Segments that match, and how many there are." });

/**
 * Position of a page in the results. Later pages leave out assets that became searchable after the
 * search began. `cursorTag` is that of the request.
 */
type CursorPosition = Pick<SearchRequest, "offset" | "after" | "readyBy" | "cursorTag">;

export async function toSearchResult(
  hits: Hit[],
  page: ResultPage,
  signUrl: MediaUrlSigner,
): Promise<z.input<typeof searchResult>> {
  const { offset, readyBy, cursorTag, total, count, next, calibration, facets } = page;
  return {
    segments: await Promise.all(hits.map((hit) => toHitRecord(hit, signUrl))),
    total,
    next_cursor: next
      ? toCursor({ offset: offset + count, after: next, readyBy, cursorTag })
      : null,
    query: toQueryRecord(page.interpretation),
    ...(Object.keys(facets).length > 0 && { facets }),
    calibration,
  };
}

/** Models of words and images hardly understand "without": a search by `none` does. */
const NONE_HINT =
  "Words such as “without” are searched for as they are. Give what mustn't be there in `none`.";

/** Names of types in messages, by those of `json_each`. */
const TYPE_NAMES: Readonly<Record<string, string>> = {
  text: "a text",
  integer: "a number",
  real: "a number",
  true: "true or false",
  false: "true or false",
  object: "an object",
};

/** What to use in place of fields that no asset has. */
const INSTEAD = new Map([
  ["asset_type", "modes"],
  ["type", "modes"],
  ["label", "all"],
  ["labels", "all"],
  ["taken_at", "technical.taken_at"],
  ["duration", "duration_seconds"],
]);

/** Names a field that no asset has, and what to use in its place. */
function fieldHint(field: string): string {
  if (field === "folder") return "No asset is in that folder.";
  const other = INSTEAD.get(field) ?? /^metadata\.(.+)$/.exec(field)?.[1];
  const use = other === undefined ? "" : ` Use \`${other}\`.`;
  return `No asset has the field “${field}” of the filter.${use}`;
}

function unreadyHints(tallies: Tally[]): string[] {
  const { queued, processing, ready, failed } = sumTallies(tallies).states;
  if (ready > 0) return [];
  if (queued + processing > 0) return ["Nothing is ready yet: files are still being indexed."];
  if (failed > 0) return ["Nothing can be found: all files have failed. Their `error` says why."];
  return ["There is nothing to find yet: add videos and images."];
}

function toQueryRecord(interpretation: QueryInterpretation) {
  const {
    correctedConditions = [],
    suggested = null,
    unmatchedFields = [],
    tallies = null,
    ...read
  } = interpretation;
  const hints = [
    ...(suggested ? [NONE_HINT] : []),
    ...(tallies ? unreadyHints(tallies) : []),
    ...unmatchedFields.map(({ field, type }) =>
      type === null
        ? fieldHint(field)
        : `Assets have ${TYPE_NAMES[type]} in the field “${field}”, not what the filter gives.`,
    ),
  ];
  return {
    ...read,
    ...(correctedConditions.length > 0 && { corrected_conditions: correctedConditions }),
    hint: hints.length > 0 ? hints.join(" ") : null,
    suggested,
  };
}

const CURSOR =
  /^after:(\d{1,6}):(\d{13}):(\d{1,6}):(\d(?:\.\d{1,20})?(?:e-\d{1,3})?):([\w-]{1,64}(?:,[\w-]{1,64}){0,2}):([\w-]+)$/;

export function isCursorPosition(cursor: string): boolean {
  return CURSOR.test(decode(cursor));
}

/**
 * Parses a valid cursor of the request with `cursorTag`. Without one, returns the first position of
 * a new search. Throws a `ValidationError` for a cursor of another request.
 */
export function parseCursor(cursor: string | undefined, cursorTag: string): CursorPosition {
  const [, offset, readyBy, depth, score, ids, tag] = CURSOR.exec(decode(cursor ?? "")) ?? [];
  if (ids === undefined) return { offset: 0, after: null, readyBy: Date.now(), cursorTag };
  if (tag === cursorTag) {
    const after = { segmentIds: ids.split(","), depth: Number(depth), score: Number(score) };
    return { offset: Number(offset), after, readyBy: Number(readyBy), cursorTag };
  }
  throw invalid(["body", "cursor"], "value_error", INVALID_CURSOR);
}

function decode(cursor: string): string {
  return Buffer.from(cursor, "base64url").toString();
}

function toCursor(position: CursorPosition & { after: RankPosition }): string {
  const { offset, after, readyBy, cursorTag } = position;
  const { segmentIds, depth, score } = after;
  const fields = ["after", offset, readyBy, depth, score, segmentIds.join(","), cursorTag];
  return Buffer.from(fields.join(":")).toString("base64url");
}

export function toCountedResult(
  c: Context,
  request: SearchRequest,
  found: SearchResults,
  timings: Timings,
  searches = 1,
) {
  countWork(c, "searches", searches);
  c.header("Server-Timing", timings.toHeader());
  return toSearchResult(found.hits, toPage(request, found), createMediaUrlSigner(c));
}
