import { lineOfText, toOneLine } from "../clean-text.ts";
import { LIMITS } from "../config.ts";
import { AppError, invalid } from "../errors.ts";
import { type CutListOptions, type Moment, toCutList } from "../exports/cut-list.ts";
import { EXPORT_FORMAT_NAMES, exportFormat, type ExportFormatName } from "../exports/formats.ts";
import { requireCallerAsset, requireCallerIndex } from "../http/caller-records.ts";
import { fileName, textFile, withExtension } from "../http/content-disposition.ts";
import { type Context, countWork, createMediaUrlSigner } from "../http/context.ts";
import { addEndpoint, createRouter } from "../http/endpoint.ts";
import { EXAMPLE_ID, idField, number, oneOf, share, text } from "../http/fields.ts";
import * as z from "../http/zod.ts";
import type { Hit } from "../search/hits.ts";
import { makeSearchRequest, toSearchScope } from "../search/request.ts";
import { listAssetsByIds } from "../store/d1/assets.ts";
import { readSegments } from "../store/index-database/find-segments.ts";
import { indexDatabase, indexDatabases } from "../store/index-database/index-database.ts";
import { listKnownSegments, listSegments } from "../store/index-database/segments.ts";
import { sourceKey } from "../store/r2/object-keys.ts";
import type { Asset, IndexRef, Segment } from "../types.ts";
import { groupSearchBody, waitedSearchBody, whenObject } from "./records/search-request.ts";
import { indexNamesField, requireNamedIndices, searchNamedIndices } from "./searchable-index.ts";

export const exportRoutes = createRouter("Videos and images");

const edlText = {
  "text/plain": {
    schema: text("Edit decision list (CMX 3600)."),
    example: "TITLE: kitchen\nFCM: NON-DROP FRAME\n",
  },
};

const edlQuery = z.object({
  segments: z
    .array(z.string())
    .max(LIMITS.assetIdCount)
    .default([])
    .describe("Ids of segments in the order of the list, with commas between them. Default: all."),
});

addEndpoint(exportRoutes, "GET /index/{index_name}/video/{video_id}/edl", {
  operationId: "getEditList",
  summary: "Get an edit list of a video",
  description: "Returns segments of a video as an edit decision list (CMX 3600) to cut by.",
  query: edlQuery,
  text: edlText,
  async handle(c, { query }) {
    const asset = await requireCallerAsset(c, "video");
    const segments = await selectSegments(c.env, asset, query.segments);
    const moments = segments.map(({ startMs, endMs }) => toMoment(asset, startMs!, endMs!));
    return exportFile("edl", moments, { title: asset.title });
  },
});

const seconds = (description: string, example: number) => number(description, example).min(0);

const cutListMoment = z
  .object({
    asset_id: idField("asset", "Id of a video of the index."),
    start_seconds: seconds("Start of the moment in the video, in seconds.", 61.5),
    end_seconds: seconds("End of the moment in seconds, at most that of the video.", 75.2),
  })
  .refine((moment) => moment.end_seconds > moment.start_seconds, {
    path: ["end_seconds"],
    message: "The end must be after the start",
  })
  .describe("A part of a video.");

const listFields = {
  title: lineOfText(200)
    .min(1)
    .optional()
    .describe("Title of the list. Default: the name of the index.")
    .openapi({ example: "Kitchen scenes" }),
  fps: z
    .number()
    .min(1)
    .max(240)
    .optional()
    .describe("Frames a second in which programme times count. Default: those of the first video.")
    .openapi({ example: 25 }),
};

addEndpoint(exportRoutes, "POST /index/{index_name}/edl", {
  operationId: "formatCutList",
  summary: "Format a cut list as an edit list",
  description:
    "Returns parts of several videos, one after the other, as one edit decision list (CMX 3600). " +
    "Programme times begin at one hour. A comment names the frame rate of each video that has " +
    "another one than the programme. Nothing is stored.",
  scope: "read",
  body: z.object({
    moments: z
      .array(cutListMoment)
      .min(1)
      .max(LIMITS.assetIdCount)
      .describe(
        "Parts of videos in the order of the list. The same video may occur several times.",
      ),
    ...listFields,
  }),
  examples: {
    "Two parts of a video, with a title": {
      moments: [
        { asset_id: EXAMPLE_ID.asset, start_seconds: 61.5, end_seconds: 75.2 },
        { asset_id: EXAMPLE_ID.asset, start_seconds: 12, end_seconds: 15 },
      ],
      title: "Kitchen scenes",
    },
  },
  text: edlText,
  async handle(c, { params, body: { moments, title = params.index_name, fps } }) {
    const { indexId } = await requireCallerIndex(c);
    const ids = new Set(moments.map(({ asset_id }) => asset_id));
    const assets = await listAssetsByIds(c.env.DB, indexId, [...ids]);
    const videos = new Map<string, Asset>(assets.map((asset) => [asset.assetId, asset]));
    const cuts = moments.map(({ asset_id: id, start_seconds, end_seconds }, i) => {
      const video = videos.get(id);
      if (video?.assetType === "video") {
        return cutVideo(video, 1000 * start_seconds, 1000 * end_seconds, ["moments", i]);
      }
      throw new AppError("not_found", `There is no video "${id}" in this index.`);
    });
    return exportFile("edl", cuts, { title, fps });
  },
});

const exportedSegment = z
  .object({
    segment_id: idField("segment", "Id of a segment."),
    start_seconds: seconds("Start in the video. Default: that of the segment.", 61.5).optional(),
    end_seconds: seconds("End in the video. Default: that of the segment.", 75.2).optional(),
    score: share("Colour of its marker: green from 0.8, yellow from 0.5, else red.").optional(),
    note: lineOfText(500).default("").describe("Note of its marker, such as why it was found."),
  })
  .describe("A segment, or another part of its video.");

/** Makes the body of an export. What a search covers depends on where. */
const exportBody = <Search extends z.ZodType>(search: Search) =>
  z
    .object({
      format: oneOf(EXPORT_FORMAT_NAMES, "What to write: docs/search.md#exports.", "fcpxml"),
      segments: z
        .array(exportedSegment)
        .min(1)
        .max(LIMITS.assetIdCount)
        .optional()
        .describe("What to cut, in this order. Give either this or `search`."),
      search: search.optional().describe("The search of which to cut the hits, best first."),
      handles_seconds: seconds("How much longer each cut is at either end, within its file.", 1)
        .max(60)
        .default(0),
      media: oneOf(
        ["name", "url"],
        "Whether files are named, or have URLs that work for an hour.",
      ).default("name"),
      ...listFields,
    })
    .refine(({ segments, search }) => segments !== undefined || search !== undefined, {
      path: ["segments"],
      when: whenObject,
      params: { type: "missing" },
      message: "Give `segments` or `search`",
    })
    .refine(({ segments, search }) => segments === undefined || search === undefined, {
      path: ["segments"],
      when: whenObject,
      message: "give either `segments` or `search`",
    })
    .refine(({ format, media }) => media === "name" || exportFormat(format).hasMedia, {
      path: ["media"],
      message: "This format has no URLs: give `name`, or export as fcpxml, premiere_xml or otio",
    });

type ExportBody = z.output<ReturnType<typeof exportBody<typeof groupSearchBody>>>;

const SUMMARY =
  "Returns segments, or the hits of a search, one after the other, as a file for a video editor: " +
  "an edit list, FCPXML 1.10, XML for Premiere, OpenTimelineIO, markers for Resolve, or chapters. " +
  "What a format can't say is a 422 with the reason. docs/search.md#exports has examples.";
const shared = {
  scope: "read",
  errors: { not_found: "An index lacks a segment, or the search found nothing." },
  text: Object.fromEntries(
    EXPORT_FORMAT_NAMES.map((name) => {
      const { type, example } = exportFormat(name);
      return [type, { schema: text("The file."), example }];
    }),
  ),
} as const;

addEndpoint(exportRoutes, "POST /index/{index_name}/exports", {
  ...shared,
  operationId: "exportCutList",
  summary: "Export a cut list",
  description: SUMMARY,
  body: exportBody(waitedSearchBody),
  examples: {
    "Hits of a search, with a second more at either end": {
      format: "fcpxml",
      search: { query: "dog on a beach", top_k: 10 },
      handles_seconds: 1,
    },
  },
  async handle(c, { params, body }) {
    return exportCutList(c, [params.index_name], body);
  },
});

addEndpoint(exportRoutes, "POST /exports", {
  ...shared,
  operationId: "exportCutListOfIndices",
  summary: "Export a cut list of several indices",
  description: `${SUMMARY} If an index doesn't answer, the request fails.`,
  body: exportBody(groupSearchBody).safeExtend({ index_names: indexNamesField }),
  examples: {
    "The best moment of each video": {
      index_names: ["holidays"],
      format: "otio",
      search: { query: "red car", group_by: "asset" },
    },
  },
  async handle(c, { body: { index_names: names, ...body } }) {
    return exportCutList(c, names, body);
  },
});

/** Exports segments, or hits of a search. Throws `not_found` for nothing. */
async function exportCutList(
  c: Context,
  names: readonly string[],
  { segments, search, media, handles_seconds, title = names.join(", "), ...body }: ExportBody,
): Promise<Response> {
  const found = segments
    ? await findSegments(c, (await requireNamedIndices(c, names)).indices, segments)
    : await findHits(c, names, search!);
  const byIndex = Map.groupBy(found, ({ segment }) => segment.indexId);
  const lists = [...byIndex].map(([indexId, ofIndex]) => {
    const ids = new Set(ofIndex.map(({ segment }) => segment.assetId));
    return listAssetsByIds(c.env.DB, indexId, [...ids]);
  });
  const assets = new Map((await Promise.all(lists)).flat().map((asset) => [asset.assetId, asset]));
  const signUrl = media === "url" ? createMediaUrlSigner(c) : null;
  const moments: Moment[] = [];
  for (const [i, { segment, timeRange, score, note }] of found.entries()) {
    const asset = assets.get(segment.assetId);
    if (!asset) continue; // deleted since it was found
    const { startMs, endMs } = timeRange ?? segment;
    const moment =
      startMs === null ? toMoment(asset, 0, 0) : cutVideo(asset, startMs, endMs!, ["segments", i]);
    moment.label = describeSegment(segment) || moment.label;
    if (signUrl) moment.url = await signUrl(sourceKey(asset), asset.title);
    moments.push({ ...moment, score, note });
  }
  if (moments.length === 0) throw new AppError("not_found", "The search found nothing to export.");
  return exportFile(body.format, moments, { ...body, title, handlesMs: 1000 * handles_seconds });
}

/** Throws a `ValidationError` for what the format can't say. */
function exportFile(name: ExportFormatName, moments: Moment[], options: CutListOptions): Response {
  const { extension, type, isCounted = false, refuse, format } = exportFormat(name);
  const list = toCutList(moments, options, isCounted);
  const refusal = refuse?.(list) ?? null;
  if (refusal !== null) throw invalid(["body", "format"], "value_error", refusal);
  return textFile(type, options.title, extension, format(list));
}

/** Makes a part of a file that programs find by its name, in the folder that it came in. */
function toMoment(asset: Asset, startMs: number, endMs: number): Moment {
  const { title: name, contentType, technical } = asset;
  const folder = technical["folder"] as string | undefined;
  const folders = folder?.split("/").filter(Boolean) ?? [];
  const path = [...folders, withExtension(name, contentType ?? undefined)].map(fileName);
  const url = path.map(encodeURIComponent).join("/");
  return { asset, name, url, startMs, endMs, label: toOneLine(name), note: "", score: null };
}

/** Makes a moment. Throws a `ValidationError`, with the field at `loc`, for none in the video. */
function cutVideo(asset: Asset, startMs: number, endMs: number, loc: (string | number)[]): Moment {
  if (startMs < asset.durationMs && startMs < endMs) return toMoment(asset, startMs, endMs);
  const isPast = startMs >= asset.durationMs;
  const message = isPast
    ? `The start is past the end of the video, at ${asset.durationMs / 1000} s`
    : "The end must be after the start";
  const field = isPast ? "start_seconds" : "end_seconds";
  throw invalid(["body", ...loc, field], "value_error", message);
}

type ExportedSegment = Pick<Hit, "segment" | "timeRange"> & Pick<Moment, "score" | "note">;

/** Searches, and says why each hit was found: `Score 0.92: speech 0.88, visual 0.31`. */
async function findHits(
  c: Context,
  names: readonly string[],
  search: NonNullable<ExportBody["search"]>,
): Promise<ExportedSegment[]> {
  const found = await searchNamedIndices(c, names, { asset_ids: [], ...search });
  countWork(c, "searches", found.searches);
  const [missing] = found.partial;
  if (missing) throw new AppError("upstream_unavailable", `${missing.name}: ${missing.reason}`);
  return found.hits.map(({ segment, timeRange, score, evidence }) => {
    const kinds = evidence.map((one) => `${one.kind} ${one.score.toFixed(2)}`);
    return { segment, timeRange, score, note: `Score ${score.toFixed(2)}: ${kinds.join(", ")}` };
  });
}

/** Finds chosen segments. Throws `not_found` with the first id that the indices lack. */
async function findSegments(
  c: Context,
  indices: readonly IndexRef[],
  chosen: readonly z.output<typeof exportedSegment>[],
): Promise<ExportedSegment[]> {
  const databases = indices.flatMap((index) => indexDatabases(c.env, index));
  const ids = await listKnownSegments(databases, [...new Set(chosen.map((one) => one.segment_id))]);
  const rows = await readSegments(databases, toSearchScope(makeSearchRequest()).assets, ids);
  const segments = new Map<string, Segment>(
    rows.map(({ segment }) => [segment.segmentId, segment]),
  );
  return chosen.map(({ segment_id: id, start_seconds: start, end_seconds: end, ...text }) => {
    const segment = segments.get(id);
    if (!segment) throw new AppError("not_found", `There is no segment "${id}" here.`);
    const [startMs, endMs] = [start, end].map((time) => (time === undefined ? null : 1000 * time));
    const range = { startMs: startMs ?? segment.startMs!, endMs: endMs ?? segment.endMs! };
    const timeRange = segment.startMs === null ? null : range;
    return { segment, timeRange, score: text.score ?? null, note: text.note };
  });
}

/** Characters of a marker's or a chapter's name. */
const MAX_LABEL = 100;

function describeSegment({ caption, transcript, onScreenText }: Segment): string {
  const characters = Array.from(toOneLine(caption || transcript || onScreenText));
  if (characters.length <= MAX_LABEL) return characters.join("");
  return `${characters.slice(0, MAX_LABEL - 1).join("")}…`;
}

/**
 * Returns segments in the order of `segmentIds`, whose items may be comma-separated lists; all
 * segments without any id. Throws `not_found` for an unknown id.
 */
async function selectSegments(env: Env, asset: Asset, segmentIds: string[]): Promise<Segment[]> {
  const all = await listSegments(indexDatabase(env, asset), asset.assetId);
  const ids = segmentIds.flatMap((list) => list.split(",")).filter(Boolean);
  if (ids.length === 0) return all;
  const byId = new Map<string, Segment>(all.map((segment) => [segment.segmentId, segment]));
  return ids.map((id) => {
    const segment = byId.get(id);
    if (!segment) throw new AppError("not_found", `There is no segment "${id}" in this video.`);
    return segment;
  });
}
