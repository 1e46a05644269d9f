import { z } from "@hono/zod-openapi";
import { pageSegments } from "../store/segments.ts";
import { getTranscript } from "../store/transcripts.ts";
import {
  assetRecord,
  assetSource,
  imageParams,
  toAssetRecord,
  videoParams,
} from "./asset-record.ts";
import { requireOwnAsset } from "./assets.ts";
import { addEndpoint, createRouter } from "./endpoint.ts";
import { isoTime, jsonObject } from "./index-record.ts";
import { mediaUrls } from "./media-url.ts";
import { nextCursor, pageOf, pageQuery, pageRequest } from "./page.ts";
import { segmentRecord, toSegmentRecord } from "./segment-record.ts";

/** Reading one asset. */
export const videoRoutes = createRouter("Videos and images");

const transcript = z.object({
  language: z.string().nullable(),
  source: z.enum(["upload", "asr", "platform"]),
  cues: z.int(),
});

addEndpoint(
  videoRoutes,
  {
    method: "get",
    path: "/index/{index_name}/video/{video_id}",
    summary: "Get Video",
    scope: "read",
    params: videoParams,
    response: assetRecord.extend({ transcript: transcript.nullable() }).openapi("Video"),
  },
  async (c, { params }) => {
    const asset = await requireOwnAsset(c, "video", params.video_id);
    const [record, summary] = await Promise.all([
      toAssetRecord(asset, mediaUrls(c)),
      getTranscript(c.env.DB, asset.assetId),
    ]);
    if (!summary || (summary.problem && summary.cues === 0)) return { ...record, transcript: null };
    const { language, source, cues } = summary;
    return { ...record, transcript: { language, source, cues } };
  },
);

addEndpoint(
  videoRoutes,
  {
    method: "get",
    path: "/index/{index_name}/image/{image_id}",
    summary: "Get Image",
    scope: "read",
    params: imageParams,
    response: assetRecord,
  },
  async (c, { params }) =>
    toAssetRecord(await requireOwnAsset(c, "image", params.image_id), mediaUrls(c)),
);

addEndpoint(
  videoRoutes,
  {
    method: "get",
    path: "/index/{index_name}/video/{video_id}/metadata",
    summary: "Get Video Metadata",
    scope: "read",
    params: videoParams,
    response: z
      .object({
        video_id: z.string(),
        metadata: jsonObject,
        technical: jsonObject,
        source: assetSource,
        created_at: z.iso.datetime(),
        updated_at: z.iso.datetime(),
      })
      .openapi("VideoMetadata"),
  },
  async (c, { params }) => {
    const asset = await requireOwnAsset(c, "video", params.video_id);
    return {
      video_id: asset.assetId,
      metadata: asset.metadata,
      technical: {
        ...asset.technical,
        duration_seconds: asset.durationMs / 1000,
        width: asset.width,
        height: asset.height,
        fps: asset.fps,
      },
      source: asset.source,
      created_at: isoTime(asset.createdAt),
      updated_at: isoTime(asset.updatedAt),
    };
  },
);

addEndpoint(
  videoRoutes,
  {
    method: "get",
    path: "/index/{index_name}/video/{video_id}/segments",
    summary: "List Segments",
    scope: "read",
    params: videoParams,
    query: pageQuery,
    response: pageOf("segments", segmentRecord),
  },
  async (c, { params, query }) => {
    const asset = await requireOwnAsset(c, "video", params.video_id);
    const page = await pageSegments(c.env.DB, asset.assetId, pageRequest(query));
    const urlOf = mediaUrls(c);
    const records = page.items.map((segment) => toSegmentRecord(segment, asset, urlOf));
    return {
      segments: await Promise.all(records),
      total: page.total,
      next_cursor: nextCursor(page),
    };
  },
);
