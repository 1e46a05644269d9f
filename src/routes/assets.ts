import { lineOfText } from "../clean-text.ts";
import { AppError } from "../errors.ts";
import { mapRecord } from "../field-names.ts";
import { requireCallerAsset, requireCallerIndex } from "../http/caller-records.ts";
import { withWaitUntil, createMediaUrlSigner } from "../http/context.ts";
import { addEndpoint, createRouter } from "../http/endpoint.ts";
import { countField, idField, jsonObject, text, time, userMetadata } from "../http/fields.ts";
import { pageOf, pageQuery, pageRecord, pageRequest } from "../http/pagination.ts";
import * as z from "../http/zod.ts";
import { requestPlaybackCopy } from "../ingest/conversion.ts";
import { softDeleteAssets, updateAsset } from "../store/asset-changes.ts";
import { getTechnical, listAssets } from "../store/d1/assets.ts";
import { getUnfinishedJob } from "../store/d1/jobs.ts";
import { requireQuota } from "../store/d1/quotas.ts";
import { indexDatabase } from "../store/index-database/index-database.ts";
import { pageSegments } from "../store/index-database/segments.ts";
import { indexObject } from "../store/index-object.ts";
import { getTranscript } from "../store/transcripts.ts";
import type { Asset, AssetType } from "../types.ts";
import { publicSource } from "../url-credentials.ts";
import { addAsset, assetForms } from "./new-asset.ts";
import {
  addedAsset,
  assetRecord,
  assetSource,
  stateFilter,
  toAssetRecord,
  transcriptOrigin,
} from "./records/asset-record.ts";
import { queuedJob, queueJob } from "./records/job-record.ts";
import { segmentRecord, toSegmentRecord } from "./records/search-result.ts";

export const assetRoutes = createRouter("Videos and images");

const assetChange = z.object({
  title: lineOfText(300).min(1).optional().describe("New title."),
  metadata: userMetadata.optional().describe("New metadata, which replaces all of the old."),
});

const WAIT =
  "state `queued`: wait until it is `ready` by `GET` or by the index's events. Bytes that the " +
  "index has already are not stored again (`duplicate`).";

/** What differs between the endpoints of videos and of images. */
interface AssetRouteTexts {
  /** `a video`, in sentences. */
  one: string;
  /** The end of names of operations. */
  name: string;
  added: string;
  description: string;
}

addAssetEndpoints("video", {
  one: "a video",
  name: "Video",
  added: "a video or sound",
  description:
    "Uploads a video or sound without pictures, or downloads it from a URL, and starts its " +
    `ingest. The response has the ${WAIT} Large files: createUpload.`,
});

addEndpoint(assetRoutes, "GET /index/{index_name}/video/{video_id}", {
  operationId: "getVideo",
  summary: "Get a video",
  description: "Returns the record of a video: its state, facts and URLs.",
  response: assetRecord
    .extend({
      transcript: z
        .object({ ...transcriptOrigin, cues: countField("Cues of the transcript.", 24) })
        .nullable()
        .describe("Summary of the transcript; null if there is none."),
    })
    .openapi("Video", { description: "A video, with a summary of its transcript." }),
  async handle(c) {
    const asset = await requireCallerAsset(c, "video");
    const [record, summary, technical] = await Promise.all([
      toAssetRecord(asset, createMediaUrlSigner(c)),
      getTranscript(c.env.DB, asset.assetId),
      getTechnical(c.env.DB, asset),
    ]);
    if (!summary || (summary.error && summary.cues === 0)) {
      return { ...record, technical, transcript: null };
    }
    const { language, source, cues } = summary;
    return { ...record, technical, transcript: { language, source, cues } };
  },
});

const videoMetadata = z
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
  .openapi("VideoMetadata", { description: "The metadata of a video." });

addEndpoint(assetRoutes, "GET /index/{index_name}/video/{video_id}/metadata", {
  operationId: "getVideoMetadata",
  summary: "Get the metadata of a video",
  description: "Returns the user's metadata, technical facts of the file, and where it came from.",
  response: videoMetadata,
  async handle(c) {
    const asset = await requireCallerAsset(c, "video");
    const { width, height, fps, durationMs } = asset;
    const facts = await getTechnical(c.env.DB, asset);
    return mapRecord(videoMetadata, asset, {
      video_id: asset.assetId,
      technical: { ...facts, duration_seconds: durationMs / 1000, width, height, fps },
      source: publicSource(asset.source),
    });
  },
});

addEndpoint(assetRoutes, "GET /index/{index_name}/video/{video_id}/segments", {
  operationId: "listSegments",
  summary: "List the segments of a video",
  description: "Lists the segments of a video in order, with captions, transcript and labels.",
  query: pageQuery,
  response: pageOf("segments", segmentRecord),
  async handle(c, { query }) {
    const asset = await requireCallerAsset(c, "video");
    const page = await pageSegments(indexDatabase(c.env, asset), asset.assetId, pageRequest(query));
    const signUrl = createMediaUrlSigner(c);
    return pageRecord("segments", page, (segment) => toSegmentRecord(segment, asset, signUrl));
  },
});

addEndpoint(assetRoutes, "POST /index/{index_name}/video/{video_id}/playback_copy", {
  operationId: "createPlaybackCopy",
  summary: "Make a copy that browsers play",
  description:
    "Starts a job that makes an MP4 of a ready video whose file browsers don't play. From then on " +
    "`media_url` and `clip_url` play the copy, and `original_url` gives the file. A video that " +
    "needs it gets one without asking, unless the deployment sets `PLAYBACK_COPIES`.",
  errors: {
    conflict: "The video isn't ready, or has a copy.",
    decoder_not_configured: "The deployment has no decoder (docs/operate.md#other-codecs).",
  },
  response: queuedJob,
  async handle(c) {
    const asset = await requireCallerAsset(c, "video");
    return { job_id: await requestPlaybackCopy(c.env, asset), state: "queued" as const };
  },
});

addAssetEndpoints("image", {
  one: "an image",
  name: "Image",
  added: "an image",
  description:
    "Uploads an image, or downloads it from a URL, and starts its ingest. The response has the " +
    `${WAIT} At most 20 MiB.`,
});

addEndpoint(assetRoutes, "GET /index/{index_name}/image/{image_id}", {
  operationId: "getImage",
  summary: "Get an image",
  description: "Returns the record of an image: its state, facts and URLs.",
  response: assetRecord,
  async handle(c) {
    const asset = await requireCallerAsset(c, "image");
    return toAssetRecord(asset, createMediaUrlSigner(c));
  },
});

/** Adds the endpoints that videos and images have alike. */
function addAssetEndpoints(
  type: AssetType,
  { one, name, added, description }: AssetRouteTexts,
): void {
  const path = `/index/{index_name}/${type}/{${type}_id}` as const;
  const urlQuery = z.object({
    [`${type}_url`]: text(
      `Public URL of the ${type}, instead of \`${type}_file\`. It is downloaded by a job.`,
    ).optional(),
  });
  addEndpoint(assetRoutes, `POST /index/{index_name}/${type}`, {
    operationId: `add${name}`,
    summary: `Add ${added}`,
    description,
    query: urlQuery,
    form: assetForms[type],
    formExample: {
      ...(type === "video"
        ? { video_file: "beach.mp4", transcript: "beach.srt" }
        : { image_file: "beach.jpg" }),
      metadata_str: '{"year": 2026}',
    },
    bodyOptional: true,
    creates: "record",
    response: addedAsset,
    async handle(c, { query }) {
      const index = await requireCallerIndex(c);
      const adding = addAsset(c.env, c.req.raw, index, type, query[`${type}_url`]);
      const { asset, duplicate, notTaken } = await withWaitUntil(c, adding);
      const record = await toAssetRecord(asset, createMediaUrlSigner(c));
      const warnings = [...record.warnings, ...notTaken];
      return { ...record, warnings, job_id: asset.jobId, duplicate };
    },
  });
  addEndpoint(assetRoutes, `GET /index/{index_name}/${type}s`, {
    operationId: `list${name}s`,
    summary: `List the ${type}s of an index`,
    description: `Lists ${type}s by their creation, in any state unless one is given.`,
    query: pageQuery.extend({ state: stateFilter }),
    response: pageOf(`${type}s`, assetRecord) as z.ZodObject,
    async handle(c, { query }) {
      const { indexId } = await requireCallerIndex(c);
      const page = await listAssets(
        c.env.DB,
        indexId,
        { type, state: query.state },
        pageRequest(query),
      );
      const signUrl = createMediaUrlSigner(c);
      return pageRecord(`${type}s`, page, (asset) => toAssetRecord(asset, signUrl));
    },
  });
  addEndpoint(assetRoutes, `PATCH ${path}`, {
    operationId: `update${name}`,
    summary: `Update ${one}`,
    description:
      "Changes the title or the metadata. A field that is left out stays as it is; `metadata` is " +
      "replaced as a whole.",
    examples: { "Set the metadata": { metadata: { year: 2026, camera: "A" } } },
    body: assetChange,
    response: assetRecord,
    async handle(c, { body }) {
      await updateAsset(c.env, await requireCallerAsset(c, type), body, Date.now());
      return toAssetRecord(await requireCallerAsset(c, type), createMediaUrlSigner(c));
    },
  });
  addEndpoint(assetRoutes, `DELETE ${path}`, {
    operationId: `delete${name}`,
    summary: `Delete ${one}`,
    description:
      `Deletes ${one}. It can't be found from this moment on; a job removes its file, text and ` +
      "vectors.",
    response: queuedJob,
    async handle(c) {
      return deleteAsset(c.env, await requireCallerAsset(c, type));
    },
  });
  addEndpoint(assetRoutes, `POST ${path}/retry`, {
    operationId: `retry${name}`,
    summary: `Retry a failed ${type}`,
    description:
      `Continues the ingest of a failed ${type} at the step that failed. For a ready ${type} with ` +
      "`warnings`, a job tries again what they are about.",
    errors: {
      conflict: `The ${type} hasn't failed and has no warnings.`,
    },
    response: assetRecord,
    async handle(c) {
      await retryIngest(c.env, await requireCallerAsset(c, type));
      return toAssetRecord(await requireCallerAsset(c, type), createMediaUrlSigner(c));
    },
  });
}

/**
 * Marks an asset as deleted, stops its ingest, and starts the job that purges its data, unless one
 * does.
 */
async function deleteAsset(env: Env, asset: Asset) {
  const { assetId, indexId, accountId, shard, vectorPair } = asset;
  const unfinished = await getUnfinishedJob(env.DB, assetId, "delete_asset");
  if (unfinished) return { job_id: unfinished, state: "queued" as const };
  await softDeleteAssets(env, [{ indexId, assetId }], Date.now());
  await indexObject(env, indexId).deleteAsset(assetId);
  const ref = { accountId, indexId, assetId, shard, vectorPair };
  return queueJob(env, { kind: "delete_asset", ...ref }, "none");
}

/**
 * Restarts the ingest of a failed asset, or starts a job that repairs a ready one with warnings,
 * which stays searchable. Throws `conflict` in any other state.
 */
async function retryIngest(env: Env, asset: Asset): Promise<void> {
  const { assetType, assetId, indexId, accountId } = asset;
  const hasWarnings = asset.state === "ready" && asset.warnings.length > 0;
  if (asset.state !== "failed" && !hasWarnings) {
    const state = asset.state === "ready" ? "ready without warnings" : asset.state;
    const message = `Only a ${assetType} that failed or has warnings can be retried; this is ${state}.`;
    throw new AppError("conflict", message);
  }
  if (hasWarnings) {
    await queueJob(env, { kind: "repair", accountId, indexId, assetId });
    return;
  }
  await requireQuota(env.DB, accountId, { concurrent_ingests: 1 });
  await indexObject(env, indexId).start(indexId, assetId, assetType, asset.jobId);
}
