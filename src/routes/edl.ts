import { z } from "@hono/zod-openapi";
import { LIMITS } from "../config.ts";
import { AppError } from "../errors.ts";
import { formatEdl } from "../media/edl.ts";
import { indexDatabase } from "../store/index-database.ts";
import { listSegments } from "../store/segments.ts";
import type { Asset, Segment } from "../types.ts";
import { videoParams } from "./asset-record.ts";
import { requireCallerAsset } from "./assets.ts";
import { attachment } from "../http/content-disposition.ts";
import type { Context } from "../http/context.ts";
import { addEndpoint, createRouter, type Input } from "../http/endpoint.ts";
import { queryList } from "../http/query-params.ts";

export const edlRoutes = createRouter("Videos and images");

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
    text: {
      "text/plain": {
        schema: z.string().describe("Edit decision list (CMX 3600)."),
        example: "TITLE: kitchen\nFCM: NON-DROP FRAME\n",
      },
    },
  },
  getEdl,
);

async function getEdl(c: Context, { params, query }: Input<typeof videoParams, typeof edlQuery>) {
  const asset = await requireCallerAsset(c, "video", params.video_id);
  const segments = await selectSegments(c.env, asset, query.segments);
  const events = segments.map(({ startMs, endMs }) => {
    return { clip: asset.title, startMs: startMs!, endMs: endMs! };
  });
  const options = { fps: asset.fps, hasAudio: asset.hasAudio === true };
  return new Response(formatEdl(asset.title, events, options), {
    headers: {
      "content-type": "text/plain; charset=utf-8",
      "content-disposition": attachment(asset.title, "edl"),
    },
  });
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
