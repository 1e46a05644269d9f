import { z } from "@hono/zod-openapi";
import { LIMITS } from "../config.ts";
import { requireAssets } from "../http/caller-records.ts";
import type { Context } from "../http/context.ts";
import { addEndpoint, createRouter, type Input } from "../http/endpoint.ts";
import { countWork } from "../http/metering.ts";
import { formFile, requireFields, readForm, readSmallPart } from "../http/multipart.ts";
import { createMediaUrlSigner } from "../http/signed-url.ts";
import { HEAD_BYTES, requireMediaType } from "../media/media-type.ts";
import { exampleFromImage } from "../search/image-example.ts";
import { search } from "../search/search.ts";
import { Timings } from "../timings.ts";
import { exampleQuery, toExampleRequest, throwImageAsInvalid } from "./example-query.ts";
import { RECORDS_FULL } from "./records/fields.ts";
import { indexParams } from "./records/index-record.ts";
import { searchResult, toSearchResult } from "./records/search-result.ts";
import { requireSearchableIndex } from "./searchable-index.ts";

export const searchImageRoutes = createRouter("Search");

const form = z.object({
  query: z
    .string()
    .trim()
    .max(LIMITS.queryCharacters)
    .default("")
    .describe("Words that change what is searched for, such as `at night`. Default: none."),
  image_file: formFile().describe(
    "Image to search by, in any format that can be added, at most 20 MiB.",
  ),
});

addEndpoint(
  searchImageRoutes,
  {
    method: "post",
    path: "/index/{index_name}/search_image",
    operationId: "searchByImage",
    summary: "Search with an image",
    description:
      "Finds the segments that look like an image: first copies of it, edited or not, then " +
      "similar images. With `query`, text and image count together.",
    errors: { account_full: RECORDS_FULL },
    scope: "read",
    params: indexParams,
    query: exampleQuery,
    form,
    response: searchResult,
  },
  searchByImage,
);

async function searchByImage(
  c: Context,
  { params, query }: Input<typeof indexParams, typeof exampleQuery>,
) {
  const index = await requireSearchableIndex(c, params.index_name);
  await requireAssets(c.env.DB, index.indexId, query.asset_ids ?? []);
  const { image, text } = await readSearchForm(c.req.raw);
  await requireMediaType(image.subarray(0, HEAD_BYTES), "image");
  const timings = new Timings();
  const request = toExampleRequest(query, text);
  const toExample = () => exampleFromImage(c.env, index, image).catch(throwImageAsInvalid);
  const example = await timings.time("example", toExample);
  const found = await search(c.env, index, request, example, timings);
  const { hits, total, calibration, interpretation } = found;
  countWork(c, "searches");
  c.header("Server-Timing", timings.toHeader());
  const page = { ...request, total, count: total, calibration, interpretation };
  return toSearchResult(hits, page, createMediaUrlSigner(c));
}

/** Reads the image, up to `LIMITS.imageBytes`, and the optional query text. */
async function readSearchForm(request: Request): Promise<{ image: Uint8Array; text: string }> {
  const images: Uint8Array[] = [];
  const fields = await readForm(request, async (part) => {
    if (part.field === "image_file") images.push(await readSmallPart(part, LIMITS.imageBytes));
  });
  const fileNames = images.map(() => "image_file");
  const { query } = requireFields(form, fields, fileNames, exampleQuery);
  return { image: images.at(-1)!, text: query };
}
