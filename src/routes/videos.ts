import { z } from "@hono/zod-openapi";
import type { Context } from "../http/context.ts";
import { addEndpoint, createRouter, type Input } from "../http/endpoint.ts";
import { formFile, formFileOrText } from "../http/multipart-schema.ts";
import { nextCursor, pageOf, pageQuery, pageRequest } from "../http/pagination.ts";
import { createMediaUrlSigner } from "../http/signed-url.ts";
import { indexDatabase } from "../store/index-database.ts";
import { pageSegments } from "../store/segments.ts";
import { getTranscript } from "../store/transcripts.ts";
import {
  addedAsset,
  assetRecord,
  assetSource,
  toAssetRecord,
  videoParams,
} from "./asset-record.ts";
import {
  addCallerAsset,
  assetChange,
  deleteCallerAsset,
  listCallerAssets,
  metadataText,
  requireCallerAsset,
  retryCallerAsset,
  updateCallerAsset,
} from "./assets.ts";
import { indexParams, isoTime, jsonObject } from "./index-record.ts";
import { queuedJob } from "./job-record.ts";
import { segmentRecord, toSegmentRecord } from "./segment-record.ts";

export const videoRoutes = createRouter("Videos and images");

const indexVideoQuery = z.object({ video_url: z.string().optional() });

addEndpoint(
  videoRoutes,
  {
    method: "post",
    path: "/index/{index_name}/video",
    summary: "Index Video",
    scope: "write",
    params: indexParams,
    query: indexVideoQuery,
    form: z.object({
      video_file: formFile().optional(),
      video_url: z.string().optional(),
      transcript: formFileOrText().optional(),
      metadata_str: metadataText,
    }),
    bodyOptional: true,
    creates: "record",
    response: addedAsset,
  },
  indexVideo,
);

async function indexVideo(
  c: Context,
  { query }: Input<typeof indexParams, typeof indexVideoQuery>,
) {
  return addCallerAsset(c, "video", query.video_url);
}

addEndpoint(
  videoRoutes,
  {
    method: "get",
    path: "/index/{index_name}/videos",
    summary: "List Videos",
    scope: "read",
    params: indexParams,
    query: pageQuery,
    response: pageOf("videos", assetRecord),
  },
  listVideos,
);

async function listVideos(c: Context, { query }: Input<typeof indexParams, typeof pageQuery>) {
  const { records, ...page } = await listCallerAssets(c, "video", query);
  return { videos: records, ...page };
}

addEndpoint(
  videoRoutes,
  {
    method: "get",
    path: "/index/{index_name}/video/{video_id}",
    summary: "Get Video",
    scope: "read",
    params: videoParams,
    response: assetRecord
      .extend({
        transcript: z
          .object({
            language: z.string().nullable(),
            source: z.enum(["upload", "asr", "platform"]),
            cues: z.int(),
          })
          .nullable(),
      })
      .openapi("Video"),
  },
  getVideo,
);

async function getVideo(c: Context, { params }: Input<typeof videoParams>) {
  const asset = await requireCallerAsset(c, "video", params.video_id);
  const [record, summary] = await Promise.all([
    toAssetRecord(asset, createMediaUrlSigner(c)),
    getTranscript(c.env.DB, asset.assetId),
  ]);
  if (!summary || (summary.error && summary.cues === 0)) return { ...record, transcript: null };
  const { language, source, cues } = summary;
  return { ...record, transcript: { language, source, cues } };
}

addEndpoint(
  videoRoutes,
  {
    method: "patch",
    path: "/index/{index_name}/video/{video_id}",
    summary: "Update Video",
    scope: "write",
    params: videoParams,
    body: assetChange,
    response: assetRecord,
  },
  updateVideo,
);

async function updateVideo(
  c: Context,
  { params, body }: Input<typeof videoParams, z.ZodObject, typeof assetChange>,
) {
  return updateCallerAsset(c, await requireCallerAsset(c, "video", params.video_id), body);
}

addEndpoint(
  videoRoutes,
  {
    method: "delete",
    path: "/index/{index_name}/video/{video_id}",
    summary: "Delete Video",
    scope: "write",
    params: videoParams,
    response: queuedJob,
  },
  deleteVideo,
);

async function deleteVideo(c: Context, { params }: Input<typeof videoParams>) {
  return deleteCallerAsset(c, await requireCallerAsset(c, "video", params.video_id));
}

addEndpoint(
  videoRoutes,
  {
    method: "post",
    path: "/index/{index_name}/video/{video_id}/retry",
    summary: "Retry Video",
    scope: "write",
    params: videoParams,
    response: assetRecord,
  },
  retryVideo,
);

async function retryVideo(c: Context, { params }: Input<typeof videoParams>) {
  return retryCallerAsset(c, await requireCallerAsset(c, "video", params.video_id));
}

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
  getVideoMetadata,
);

async function getVideoMetadata(c: Context, { params }: Input<typeof videoParams>) {
  const asset = await requireCallerAsset(c, "video", params.video_id);
  const { width, height, fps } = asset;
  return {
    video_id: asset.assetId,
    metadata: asset.metadata,
    technical: {
      ...asset.technical,
      duration_seconds: asset.durationMs / 1000,
      width,
      height,
      fps,
    },
    source: asset.source,
    created_at: isoTime(asset.createdAt),
    updated_at: isoTime(asset.updatedAt),
  };
}

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
  listVideoSegments,
);

async function listVideoSegments(
  c: Context,
  { params, query }: Input<typeof videoParams, typeof pageQuery>,
) {
  const asset = await requireCallerAsset(c, "video", params.video_id);
  const page = await pageSegments(indexDatabase(c.env, asset), asset.assetId, pageRequest(query));
  const signUrl = createMediaUrlSigner(c);
  const records = page.items.map((segment) => toSegmentRecord(segment, asset, signUrl));
  return {
    segments: await Promise.all(records),
    total: page.total,
    next_cursor: nextCursor(page),
  };
}
