import { countWork } from "../http/metering.ts";
import { z } from "@hono/zod-openapi";
import { LIMITS, SEARCH } from "../config.ts";
import { AppError, invalid } from "../errors.ts";
import { HEAD_BYTES, requireMediaType } from "../media/media-type.ts";
import { exampleFromImage } from "../search/image-example.ts";
import { MODES, makeSearchRequest } from "../search/request.ts";
import { search } from "../search/search.ts";
import { Timings } from "../timings.ts";
import type { Context } from "../http/context.ts";
import { addEndpoint, createRouter, type Input } from "../http/endpoint.ts";
import { formFile, requireFields } from "../http/multipart-schema.ts";
import { readForm, readSmallPart } from "../http/multipart.ts";
import { indexParams } from "./index-record.ts";
import { requireSearchableIndex } from "./searchable-index.ts";
import { createMediaUrlSigner } from "../http/signed-url.ts";
import { queryBool, queryFloat, queryInt, queryList } from "../http/query-params.ts";
import { searchResult, toSearchResult } from "./search-result.ts";
import { MODES_DESCRIPTION } from "./query-text.ts";

export const searchImageRoutes = createRouter("Search");

const form = z.object({
  query: z
    .string()
    .trim()
    .max(LIMITS.queryCharacters)
    .default("")
    .describe("Words that change what is searched for, such as `at night`. Default: none."),
  image_file: formFile().describe("Image to search by: JPEG, PNG, GIF or WebP, at most 20 MiB."),
});

const searchImageQuery = z.object({
  top_k: queryInt(1, LIMITS.topK, SEARCH.defaultTopK).describe("Segments to return."),
  top_p: queryFloat(0, 1, 0).describe("Lowest `score` to return, from 0 to 1."),
  modes: queryList(z.enum(MODES), MODES.length, MODES_DESCRIPTION),
  collapse: queryBool(true).describe(
    "Whether near-identical segments are one, with the others in `duplicates`.",
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
      "Finds the segments that look like an image: first copies of it, also edited ones, then " +
      "similar images. With `query`, text and image count together.",
    scope: "read",
    params: indexParams,
    query: searchImageQuery,
    form,
    response: searchResult,
  },
  searchByImage,
);

async function searchByImage(
  c: Context,
  { params, query }: Input<typeof indexParams, typeof searchImageQuery>,
) {
  const index = await requireSearchableIndex(c, params.index_name);
  const { image, text } = await readSearchForm(c.req.raw);
  await requireMediaType(image.subarray(0, HEAD_BYTES), "image");
  const timings = new Timings();
  const { top_k: topK, top_p: topP, modes = [], collapse } = query;
  const request = makeSearchRequest({ query: text, topK, topP, modes, collapse });
  const toExample = () => exampleFromImage(c.env, index, image).catch(throwAsInvalid);
  const example = await timings.time("example", toExample);
  const { hits, total } = await search(c.env, index, request, example, timings);
  countWork(c, "searches");
  c.header("Server-Timing", timings.toHeader());
  const page = { ...request, total, count: total };
  return toSearchResult(hits, page, createMediaUrlSigner(c));
}

/** Reads the image, up to `LIMITS.imageBytes`, and the optional query text. */
async function readSearchForm(request: Request): Promise<{ image: Uint8Array; text: string }> {
  const images: Uint8Array[] = [];
  const fields = await readForm(request, async (part) => {
    if (part.field === "image_file") images.push(await readSmallPart(part, LIMITS.imageBytes));
  });
  const fileNames = images.map(() => "image_file");
  const { query } = requireFields(form, fields, fileNames, searchImageQuery);
  return { image: images.at(-1)!, text: query };
}

/** Rethrows errors about the image as a `ValidationError`, and others unchanged. */
function throwAsInvalid(error: unknown): never {
  if (!(error instanceof AppError && error.code === "unreadable_image")) throw error;
  throw invalid(["body", "image_file"], "value_error", error.message);
}
