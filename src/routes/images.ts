import { z } from "@hono/zod-openapi";
import type { Context } from "../http/context.ts";
import { addEndpoint, createRouter, type Input } from "../http/endpoint.ts";
import { formFile } from "../http/multipart-schema.ts";
import { pageOf, pageQuery } from "../http/pagination.ts";
import { createMediaUrlSigner } from "../http/signed-url.ts";
import { addedAsset, assetRecord, imageParams, toAssetRecord } from "./asset-record.ts";
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
import { indexParams } from "./index-record.ts";
import { queuedJob } from "./job-record.ts";

export const imageRoutes = createRouter("Videos and images");

const indexImageQuery = z.object({ image_url: z.string().optional() });

addEndpoint(
  imageRoutes,
  {
    method: "post",
    path: "/index/{index_name}/image",
    summary: "Index Image",
    scope: "write",
    params: indexParams,
    query: indexImageQuery,
    form: z.object({
      image_file: formFile().optional(),
      image_url: z.string().optional(),
      metadata_str: metadataText,
    }),
    bodyOptional: true,
    creates: "record",
    response: addedAsset,
  },
  indexImage,
);

async function indexImage(
  c: Context,
  { query }: Input<typeof indexParams, typeof indexImageQuery>,
) {
  return addCallerAsset(c, "image", query.image_url);
}

addEndpoint(
  imageRoutes,
  {
    method: "get",
    path: "/index/{index_name}/images",
    summary: "List Images",
    scope: "read",
    params: indexParams,
    query: pageQuery,
    response: pageOf("images", assetRecord),
  },
  listImages,
);

async function listImages(c: Context, { query }: Input<typeof indexParams, typeof pageQuery>) {
  const { records, ...page } = await listCallerAssets(c, "image", query);
  return { images: records, ...page };
}

addEndpoint(
  imageRoutes,
  {
    method: "get",
    path: "/index/{index_name}/image/{image_id}",
    summary: "Get Image",
    scope: "read",
    params: imageParams,
    response: assetRecord,
  },
  getImage,
);

async function getImage(c: Context, { params }: Input<typeof imageParams>) {
  const asset = await requireCallerAsset(c, "image", params.image_id);
  return toAssetRecord(asset, createMediaUrlSigner(c));
}

addEndpoint(
  imageRoutes,
  {
    method: "patch",
    path: "/index/{index_name}/image/{image_id}",
    summary: "Update Image",
    scope: "write",
    params: imageParams,
    body: assetChange,
    response: assetRecord,
  },
  updateImage,
);

async function updateImage(
  c: Context,
  { params, body }: Input<typeof imageParams, z.ZodObject, typeof assetChange>,
) {
  return updateCallerAsset(c, await requireCallerAsset(c, "image", params.image_id), body);
}

addEndpoint(
  imageRoutes,
  {
    method: "delete",
    path: "/index/{index_name}/image/{image_id}",
    summary: "Delete Image",
    scope: "write",
    params: imageParams,
    response: queuedJob,
  },
  deleteImage,
);

async function deleteImage(c: Context, { params }: Input<typeof imageParams>) {
  return deleteCallerAsset(c, await requireCallerAsset(c, "image", params.image_id));
}

addEndpoint(
  imageRoutes,
  {
    method: "post",
    path: "/index/{index_name}/image/{image_id}/retry",
    summary: "Retry Image",
    scope: "write",
    params: imageParams,
    response: assetRecord,
  },
  retryImage,
);

async function retryImage(c: Context, { params }: Input<typeof imageParams>) {
  return retryCallerAsset(c, await requireCallerAsset(c, "image", params.image_id));
}
