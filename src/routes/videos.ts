import { z } from "@hono/zod-openapi";
import { requireCallerAsset } from "../http/caller-records.ts";
import type { Context } from "../http/context.ts";
import { addEndpoint, createRouter, type Input } from "../http/endpoint.ts";
import { formFile, formFileOrText } from "../http/multipart.ts";
import { nextCursor, pageOf, pageQuery, pageRequest } from "../http/pagination.ts";
import { createMediaUrlSigner } from "../http/signed-url.ts";
import { getTechnical } from "../store/d1/waveforms.ts";
import { indexDatabase } from "../store/index-database/index-database.ts";
import { pageSegments } from "../store/index-database/segments.ts";
import { getTranscript } from "../store/transcripts.ts";
import { publicSource } from "../url-credentials.ts";
import {
  addCallerAsset,
  ASSET_CHANGE_EXAMPLES,
  assetChange,
  deleteCallerAsset,
  listCallerAssets,
  metadataText,
  retryCallerAsset,
  updateCallerAsset,
} from "./assets.ts";
import {
  addedAsset,
  assetRecord,
  assetSource,
  toAssetRecord,
  transcriptOrigin,
  videoParams,
} from "./records/asset-record.ts";
import { RECORDS_FULL, countField, idField, time } from "./records/fields.ts";
import { indexParams, isoTime, jsonObject } from "./records/index-record.ts";
import { queuedJob } from "./records/job-record.ts";
import { segmentRecord, toSegmentRecord } from "./records/segment-record.ts";
import { TRANSCRIPT_FORMATS, transcriptEncoding } from "./transcript-part.ts";

export const videoRoutes = createRouter("Videos and images");

const indexVideoQuery = z.object({
  video_url: z
    .string()
    .optional()
    .describe("Public URL of the video, instead of `video_file`. It is downloaded by a job."),
});

addEndpoint(
  videoRoutes,
  {
    method: "post",
    path: "/index/{index_name}/video",
    operationId: "addVideo",
    summary: "Add a video or sound",
    description:
      "Uploads a video or sound without pictures, or downloads it from a URL, and starts its " +
      "ingest. The response has the " +
      "state `queued`: wait until it is `ready` by `GET` or by the index's events. Bytes that the " +
      "index has already are not stored again (`duplicate`). Large files: createUpload.",
    errors: { account_full: "The account's storage or its bytes of records are used up." },
    scope: "write",
    params: indexParams,
    query: indexVideoQuery,
    form: z.object({
      video_file: formFile().optional().describe("The video. Give either this or `video_url`."),
      video_url: z
        .string()
        .optional()
        .describe("Public URL of the video: the same as in the query."),
      transcript: formFileOrText()
        .optional()
        .describe(`Transcript, used instead of speech recognition: ${TRANSCRIPT_FORMATS}.`),
      transcript_encoding: transcriptEncoding,
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
    operationId: "listVideos",
    summary: "List the videos of an index",
    description: "Lists videos by their creation, in any state.",
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
    operationId: "getVideo",
    summary: "Get a video",
    description: "Returns the record of a video: its state, facts and URLs.",
    scope: "read",
    params: videoParams,
    response: assetRecord
      .extend({
        transcript: z
          .object({ ...transcriptOrigin, cues: countField("Cues of the transcript.", 24) })
          .nullable()
          .describe("Summary of the transcript; null if there is none."),
      })
      .openapi("Video", { description: "A video, with a summary of its transcript." }),
  },
  getVideo,
);

async function getVideo(c: Context, { params }: Input<typeof videoParams>) {
  const asset = await requireCallerAsset(c, "video", params.video_id);
  const [listed, summary, technical] = await Promise.all([
    toAssetRecord(asset, createMediaUrlSigner(c)),
    getTranscript(c.env.DB, asset.assetId),
    getTechnical(c.env.DB, asset),
  ]);
  const record = { ...listed, technical };
  if (!summary || (summary.error && summary.cues === 0)) return { ...record, transcript: null };
  const { language, source, cues } = summary;
  return { ...record, transcript: { language, source, cues } };
}

addEndpoint(
  videoRoutes,
  {
    method: "patch",
    path: "/index/{index_name}/video/{video_id}",
    operationId: "updateVideo",
    summary: "Update a video",
    description:
      "Changes the title or the metadata. A field that is left out stays as it is; `metadata` is " +
      "replaced as a whole.",
    examples: ASSET_CHANGE_EXAMPLES,
    errors: { account_full: RECORDS_FULL },
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
    operationId: "deleteVideo",
    summary: "Delete a video",
    description:
      "Deletes a video. It can't be found from this moment on; a job removes its file, text and " +
      "vectors.",
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
    operationId: "retryVideo",
    summary: "Retry a failed video",
    description:
      "Continues the ingest of a failed video at the step that failed. For a ready video with " +
      "`warnings`, a job tries again what they are about.",
    errors: {
      account_full: RECORDS_FULL,
      conflict: "The video hasn't failed and has no warnings.",
    },
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
    operationId: "getVideoMetadata",
    summary: "Get the metadata of a video",
    description:
      "Returns the user's metadata, technical facts of the file, and where it came from.",
    scope: "read",
    params: videoParams,
    response: z
      .object({
        video_id: idField("asset", "Id of the video."),
        metadata: jsonObject,
        technical: z
          .record(z.string(), z.unknown())
          .describe(
            "Facts of the file: duration, size, frame rate, container, codecs, bit rate, `has_video`, " +
              "`waveform`.",
          )
          .openapi({
            example: { duration_seconds: 93.4, width: 1920, height: 1080, video_codec: "avc" },
          }),
        source: assetSource.openapi({ example: { kind: "upload" } }),
        created_at: time("Creation of the asset."),
        updated_at: time("Last change of the record."),
      })
      .openapi("VideoMetadata", { description: "The metadata of a video." }),
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
      ...(await getTechnical(c.env.DB, asset)),
      duration_seconds: asset.durationMs / 1000,
      width,
      height,
      fps,
    },
    source: publicSource(asset.source),
    created_at: isoTime(asset.createdAt),
    updated_at: isoTime(asset.updatedAt),
  };
}

addEndpoint(
  videoRoutes,
  {
    method: "get",
    path: "/index/{index_name}/video/{video_id}/segments",
    operationId: "listSegments",
    summary: "List the segments of a video",
    description: "Lists the segments of a video in order, with captions, transcript and labels.",
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
