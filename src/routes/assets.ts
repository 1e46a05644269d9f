import { z } from "@hono/zod-openapi";
import { AppError } from "../errors.ts";
import { newId } from "../ids.ts";
import type { JobMessage } from "../queues/messages.ts";
import { listAssets, requireAsset, updateAsset } from "../store/assets.ts";
import { indexObject } from "../store/index-object.ts";
import { startJob } from "../store/jobs.ts";
import { requireRoom } from "../store/limits.ts";
import { beginRemoval } from "../store/removals.ts";
import type { AssetType } from "../types.ts";
import { addAsset } from "./add-asset.ts";
import {
  addedAsset,
  assetRecord,
  imageParams,
  toAssetRecord,
  videoParams,
} from "./asset-record.ts";
import { addEndpoint, type Context, createRouter } from "./endpoint.ts";
import { formFile, formFileOrText } from "./form-fields.ts";
import { indexParams } from "./index-record.ts";
import { requireOwnIndex } from "./indices.ts";
import { queuedJob } from "./job-record.ts";
import { userMetadata } from "./json-object.ts";
import { mediaUrls } from "./media-url.ts";
import { nextCursor, pageOf, pageQuery, pageRequest } from "./page.ts";
import { jsonText } from "./query-types.ts";
import { surviving } from "./surviving.ts";

/** What a video and an image have in common over HTTP. */
export const assetRoutes = createRouter("Videos and images");

const metadataText = jsonText(userMetadata).optional();

const KINDS = [
  {
    type: "video",
    noun: "Video",
    plural: "videos",
    params: videoParams,
    url: z.object({ video_url: z.string().optional() }),
    form: z.object({
      video_file: formFile().optional(),
      transcript: formFileOrText().optional(),
      metadata_str: metadataText,
    }),
  },
  {
    type: "image",
    noun: "Image",
    plural: "images",
    params: imageParams,
    url: z.object({ image_url: z.string().optional() }),
    form: z.object({ image_file: formFile().optional(), metadata_str: metadataText }),
  },
] as const;

for (const { type, noun, plural, params, url, form } of KINDS) {
  const path = `/index/{index_name}/${type}`;
  const one = `${path}/{${type}_id}`;
  const idOf = (values: object) => String(Reflect.get(values, `${type}_id`));

  addEndpoint(
    assetRoutes,
    {
      method: "post",
      path,
      summary: `Index ${noun}`,
      scope: "write",
      params: indexParams,
      query: url as z.ZodObject,
      form,
      bodyOptional: true,
      adds: "record",
      response: addedAsset,
    },
    async (c, input) => {
      const index = await requireOwnIndex(c, input.params.index_name);
      const from = input.query[`${type}_url`] as string | undefined;
      const { asset, duplicate } = await surviving(
        c,
        addAsset(c.env, c.req.raw, index, type, from),
      );
      const record = await toAssetRecord(asset, mediaUrls(c));
      return { ...record, job_id: asset.jobId, duplicate };
    },
  );

  addEndpoint(
    assetRoutes,
    {
      method: "get",
      path: `/index/{index_name}/${plural}`,
      summary: `List ${noun}s`,
      scope: "read",
      params: indexParams,
      query: pageQuery,
      response: pageOf(plural, assetRecord),
    },
    async (c, input) => {
      const { indexId } = await requireOwnIndex(c, input.params.index_name);
      const page = await listAssets(c.env.DB, indexId, { type }, pageRequest(input.query));
      const urlOf = mediaUrls(c);
      const records = await Promise.all(page.items.map((asset) => toAssetRecord(asset, urlOf)));
      return { [plural]: records, total: page.total, next_cursor: nextCursor(page) } as never;
    },
  );

  addEndpoint(
    assetRoutes,
    {
      method: "patch",
      path: one,
      summary: `Update ${noun}`,
      scope: "write",
      params: params as z.ZodObject,
      body: z.object({
        title: z.string().trim().min(1).max(300).optional(),
        metadata: userMetadata.optional(),
      }),
      response: assetRecord,
    },
    async (c, input) => {
      const { assetId } = await requireOwnAsset(c, type, idOf(input.params));
      await updateAsset(c.env.DB, assetId, input.body, Date.now());
      return toAssetRecord(await requireOwnAsset(c, type, assetId), mediaUrls(c));
    },
  );

  addEndpoint(
    assetRoutes,
    {
      method: "delete",
      path: one,
      summary: `Delete ${noun}`,
      scope: "write",
      params: params as z.ZodObject,
      response: queuedJob,
    },
    async (c, input) => {
      const { assetId, indexId, accountId } = await requireOwnAsset(c, type, idOf(input.params));
      const now = Date.now();
      const job: JobMessage = {
        kind: "delete_asset",
        jobId: newId("job", now),
        accountId,
        indexId,
        assetId,
      };
      await beginRemoval(c.env.DB, assetId, now);
      await indexObject(c.env, indexId).forget(assetId);
      await startJob(c.env, job, now);
      return { job_id: job.jobId, state: "queued" as const };
    },
  );

  addEndpoint(
    assetRoutes,
    {
      method: "post",
      path: `${one}/retry`,
      summary: `Retry ${noun}`,
      scope: "write",
      params: params as z.ZodObject,
      response: assetRecord,
    },
    async (c, input) => {
      const asset = await requireOwnAsset(c, type, idOf(input.params));
      if (asset.state !== "failed") {
        throw new AppError(
          "conflict",
          `Only a failed ${type} can be retried; this is ${asset.state}.`,
        );
      }
      await requireRoom(c.env.DB, asset.accountId, { concurrent_ingests: 1 });
      const index = indexObject(c.env, asset.indexId);
      await index.start(asset.indexId, asset.assetId, type, asset.jobId);
      return toAssetRecord(await requireOwnAsset(c, type, asset.assetId), mediaUrls(c));
    },
  );
}

/** The asset named in the path. Throws `not_found` where the caller has no such asset. */
export async function requireOwnAsset(c: Context, type: AssetType, assetId: string) {
  const { indexId } = await requireOwnIndex(c, c.req.param("index_name")!);
  return requireAsset(c.env.DB, indexId, type, assetId);
}
