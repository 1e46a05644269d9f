import { z } from "@hono/zod-openapi";
import { LIMITS } from "../config.ts";
import { AppError, invalid } from "../errors.ts";
import { requireCallerAsset, requireCallerIndex } from "../http/caller-records.ts";
import { attachment } from "../http/content-disposition.ts";
import type { Context } from "../http/context.ts";
import { addEndpoint, createRouter, type Input } from "../http/endpoint.ts";
import { queryList } from "../http/query-params.ts";
import { type EdlEvent, formatEdl } from "../media/edl.ts";
import { listAssetsByIds } from "../store/d1/assets.ts";
import { indexDatabase } from "../store/index-database/index-database.ts";
import { listSegments } from "../store/index-database/segments.ts";
import type { Asset, Segment } from "../types.ts";
import { videoParams } from "./records/asset-record.ts";
import { EXAMPLE_ID, idField } from "./records/fields.ts";
import { indexParams } from "./records/index-record.ts";

export const edlRoutes = createRouter("Videos and images");

const edlText = {
  "text/plain": {
    schema: z.string().describe("Edit decision list (CMX 3600)."),
    example: "TITLE: kitchen\nFCM: NON-DROP FRAME\n",
  },
};

const edlQuery = z.object({
  segments: queryList(
    z.string(),
    LIMITS.assetIdCount,
    "Ids of segments in the order of the list, with commas between them. Default: all.",
  ),
});

addEndpoint(
  edlRoutes,
  {
    method: "get",
    path: "/index/{index_name}/video/{video_id}/edl",
    operationId: "getEditList",
    summary: "Get an edit list of a video",
    description:
      "Returns segments of a video as an edit decision list (CMX 3600) for a cutting room.",
    scope: "read",
    params: videoParams,
    query: edlQuery,
    text: edlText,
  },
  getEdl,
);

const cutListMoment = z
  .object({
    asset_id: idField("asset", "Id of a video of the index."),
    start_seconds: z
      .number()
      .min(0)
      .describe("Start of the moment in the video, in seconds.")
      .openapi({ example: 61.5 }),
    end_seconds: z
      .number()
      .min(0)
      .describe("End of the moment in seconds. Past the end of the video, it is the end.")
      .openapi({ example: 75.2 }),
  })
  .refine((moment) => moment.end_seconds > moment.start_seconds, {
    path: ["end_seconds"],
    message: "The end must be after the start",
  })
  .describe("A part of a video.");

const cutListBody = z.object({
  moments: z
    .array(cutListMoment)
    .min(1)
    .max(LIMITS.assetIdCount)
    .describe("Parts of videos in the order of the list. The same video may occur several times."),
  title: z
    .string()
    .min(1)
    .max(200)
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
});

addEndpoint(
  edlRoutes,
  {
    method: "post",
    path: "/index/{index_name}/edl",
    operationId: "formatCutList",
    summary: "Format a cut list as an edit list",
    description:
      "Returns parts of several videos, one after the other, as one edit decision list (CMX 3600). " +
      "Programme times begin at one hour. A comment names the frame rate of each video that has " +
      "another one than the programme. Nothing is stored.",
    scope: "read",
    params: indexParams,
    body: cutListBody,
    examples: {
      moments: {
        summary: "Two parts of a video, with a title",
        value: {
          moments: [
            { asset_id: EXAMPLE_ID.asset, start_seconds: 61.5, end_seconds: 75.2 },
            { asset_id: EXAMPLE_ID.asset, start_seconds: 12, end_seconds: 15 },
          ],
          title: "Kitchen scenes",
        },
      },
    },
    text: edlText,
  },
  formatCutList,
);

async function formatCutList(
  c: Context,
  { params, body }: Input<typeof indexParams, z.ZodObject, typeof cutListBody>,
) {
  const { indexId } = await requireCallerIndex(c, params.index_name);
  const ids = new Set(body.moments.map(({ asset_id }) => asset_id));
  const assets = await listAssetsByIds(c.env.DB, indexId, [...ids]);
  const videos = new Map<string, Asset>(assets.map((asset) => [asset.assetId, asset]));
  const events = body.moments.map((moment, i) => toEvent(moment, videos.get(moment.asset_id), i));
  const title = body.title ?? params.index_name;
  return edlResponse(title, formatEdl(title, events, body.fps));
}

/** Makes the event of moment `i`. Throws if the video doesn't exist or is shorter. */
function toEvent(
  { asset_id: id, start_seconds, end_seconds }: z.output<typeof cutListMoment>,
  video: Asset | undefined,
  i: number,
): EdlEvent {
  if (video?.assetType !== "video") {
    throw new AppError("not_found", `There is no video "${id}" in this index.`);
  }
  const durationMs = video.durationMs ?? Infinity;
  if (start_seconds * 1000 >= durationMs) {
    const message = `The start is past the end of the video, at ${durationMs / 1000} s`;
    throw invalid(["body", "moments", i, "start_seconds"], "value_error", message);
  }
  const endMs = Math.min(end_seconds * 1000, durationMs);
  return { ...sourceOf(video), startMs: start_seconds * 1000, endMs };
}

function sourceOf({ title, fps, hasAudio }: Asset) {
  return { clip: title, fps, hasAudio: hasAudio === true };
}

function edlResponse(title: string, edl: string): Response {
  return new Response(edl, {
    headers: {
      "content-type": "text/plain; charset=utf-8",
      "content-disposition": attachment(title, "edl"),
    },
  });
}

async function getEdl(c: Context, { params, query }: Input<typeof videoParams, typeof edlQuery>) {
  const asset = await requireCallerAsset(c, "video", params.video_id);
  const segments = await selectSegments(c.env, asset, query.segments);
  const source = sourceOf(asset);
  const events = segments.map(({ startMs, endMs }) =>
    Object.assign({ startMs: startMs!, endMs: endMs! }, source),
  );
  return edlResponse(asset.title, formatEdl(asset.title, events, asset.fps));
}

/**
 * Returns segments in the order of `segmentIds`, whose items may be comma-separated lists; all
 * segments without any id. Throws `not_found` for an unknown id.
 */
async function selectSegments(
  env: Env,
  asset: Asset,
  segmentIds: string[] | undefined,
): Promise<Segment[]> {
  const all = await listSegments(indexDatabase(env, asset), asset.assetId);
  const ids = (segmentIds ?? []).flatMap((list) => list.split(",")).filter(Boolean);
  if (ids.length === 0) return all;
  const byId = new Map<string, Segment>(all.map((segment) => [segment.segmentId, segment]));
  return ids.map((id) => {
    const segment = byId.get(id);
    if (!segment) throw new AppError("not_found", `There is no segment "${id}" in this video.`);
    return segment;
  });
}
