import { z } from "@hono/zod-openapi";
import { requireCallerAsset } from "../http/caller-records.ts";
import type { Context } from "../http/context.ts";
import { addEndpoint, createRouter, type Input } from "../http/endpoint.ts";
import { formFile } from "../http/multipart.ts";
import { pageOf, pageQuery } from "../http/pagination.ts";
import { createMediaUrlSigner } from "../http/signed-url.ts";
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
import { addedAsset, assetRecord, imageParams, toAssetRecord } from "./records/asset-record.ts";
import { RECORDS_FULL } from "./records/fields.ts";
import { indexParams } from "./records/index-record.ts";
import { queuedJob } from "./records/job-record.ts";

export const imageRoutes = createRouter("Videos and images");

const indexImageQuery = z.object({
  image_url: z
    .string()
    .optional()
    .describe("Public URL of the image, instead of `image_file`. It is downloaded by a job."),
});

addEndpoint(
  imageRoutes,
  {
    method: "post",
    path: "/index/{index_name}/image",
    operationId: "addImage",
    summary: "Add an image",
    description:
      "Uploads an image, or downloads it from a URL, and starts its ingest. The response has the " +
      "state `queued`: wait until it is `ready` by `GET` or by the index's events. Bytes that the " +
      "index has already are not stored again (`duplicate`). At most 20 MiB.",
    errors: { account_full: "The account's storage or its bytes of records are used up." },
    scope: "write",
    params: indexParams,
    query: indexImageQuery,
    form: z.object({
      image_file: formFile()
        .optional()
        .describe(
          "The image: JPEG, PNG, GIF, WebP, HEIC, a camera raw, or what the decoder of the " +
            "deployment reads. Give either this or `image_url`.",
        ),
      image_url: z
        .string()
        .optional()
        .describe("Public URL of the image: the same as in the query."),
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
    operationId: "listImages",
    summary: "List the images of an index",
    description: "Lists images by their creation, in any state.",
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
    operationId: "getImage",
    summary: "Get an image",
    description: "Returns the record of an image: its state, facts and URLs.",
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
    operationId: "updateImage",
    summary: "Update an image",
    description:
      "Changes the title or the metadata. A field that is left out stays as it is; `metadata` is " +
      "replaced as a whole.",
    examples: ASSET_CHANGE_EXAMPLES,
    errors: { account_full: RECORDS_FULL },
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
    operationId: "deleteImage",
    summary: "Delete an image",
    description:
      "Deletes an image. It can't be found from this moment on; a job removes its file, text and " +
      "vectors.",
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
    operationId: "retryImage",
    summary: "Retry a failed image",
    description:
      "Continues the ingest of a failed image at the step that failed. For a ready image with " +
      "`warnings`, a job tries again what they are about.",
    errors: {
      account_full: RECORDS_FULL,
      conflict: "The image hasn't failed and has no warnings.",
    },
    scope: "write",
    params: imageParams,
    response: assetRecord,
  },
  retryImage,
);

async function retryImage(c: Context, { params }: Input<typeof imageParams>) {
  return retryCallerAsset(c, await requireCallerAsset(c, "image", params.image_id));
}
