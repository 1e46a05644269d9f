import { z } from "@hono/zod-openapi";
import { LIMITS } from "../config.ts";
import { AppError } from "../errors.ts";
import { toEditList } from "../media/edit-list.ts";
import { listSegments } from "../store/segments.ts";
import type { Asset, Segment } from "../types.ts";
import { videoParams } from "./asset-record.ts";
import { requireOwnAsset } from "./assets.ts";
import { attachment } from "./attachment.ts";
import { addEndpoint, createRouter } from "./endpoint.ts";
import { queryList } from "./query-types.ts";

/** Taking moments to where films are edited. */
export const editListRoutes = createRouter("Videos and images");

const TYPE = "text/plain";

addEndpoint(
  editListRoutes,
  {
    method: "get",
    path: "/index/{index_name}/video/{video_id}/edl",
    summary: "Get Edit List",
    scope: "read",
    params: videoParams,
    query: z.object({ segments: queryList(z.string(), LIMITS.assetIds) }),
    response: z.string(),
    texts: [TYPE],
  },
  async (c, { params, query }) => {
    const asset = await requireOwnAsset(c, "video", params.video_id);
    const chosen = await choose(c.env.DB, asset, query.segments);
    const takes = chosen.map(({ startMs, endMs }) => {
      return { clip: asset.title, startMs: startMs!, endMs: endMs! };
    });
    const film = { fps: asset.fps, hasSound: asset.hasAudio === true };
    return new Response(toEditList(asset.title, takes, film), {
      headers: {
        "content-type": `${TYPE}; charset=utf-8`,
        "content-disposition": attachment(asset.title, "edl"),
      },
    });
  },
);

/** Segments by their ids, in the order of these; all where none is named. `asked` may hold lists with commas. */
async function choose(
  db: D1Database,
  { assetId }: Asset,
  asked: string[] | undefined,
): Promise<Segment[]> {
  const all = await listSegments(db, assetId, 0, Number.MAX_SAFE_INTEGER);
  const ids = (asked ?? []).flatMap((list) => list.split(",")).filter(Boolean);
  if (ids.length === 0) return all;
  const byId = new Map<string, Segment>(all.map((segment) => [segment.segmentId, segment]));
  return ids.map((id) => {
    const segment = byId.get(id);
    if (!segment) throw new AppError("not_found", `There is no segment "${id}" in this video.`);
    return segment;
  });
}
