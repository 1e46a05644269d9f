import { z } from "@hono/zod-openapi";
import { LIMITS, SEARCH } from "../config.ts";
import { AppError, invalid } from "../errors.ts";
import { HEAD_BYTES, requireKind } from "../media/kind.ts";
import { likenessOfPicture } from "../search/picture.ts";
import { MODES, searchFor } from "../search/request.ts";
import { search } from "../search/search.ts";
import { Timings } from "../timings.ts";
import { addEndpoint, createRouter } from "./endpoint.ts";
import { formFile, requireFields } from "./form-fields.ts";
import { readForm, readSmall } from "./form.ts";
import { indexParams } from "./index-record.ts";
import { requireSearchableIndex } from "./indices.ts";
import { mediaUrls } from "./media-url.ts";
import { meteredSearch } from "./metered-search.ts";
import { queryBool, queryFloat, queryInt, queryList } from "./query-types.ts";
import { searchResult, toSearchResult } from "./search-result.ts";

export const searchImageRoutes = createRouter("Search");

const form = z.object({
  query: z.string().trim().max(LIMITS.queryCharacters).default(""),
  image_file: formFile(),
});

addEndpoint(
  searchImageRoutes,
  {
    method: "post",
    path: "/index/{index_name}/search_image",
    summary: "Search By Image",
    scope: "read",
    params: indexParams,
    query: z.object({
      top_k: queryInt(1, LIMITS.topK, SEARCH.defaultTopK),
      top_p: queryFloat(0, 1, 0),
      modes: queryList(z.enum(MODES), MODES.length),
      collapse: queryBool(true),
    }),
    form,
    response: searchResult,
  },
  async (c, { params, query }) => {
    const index = await requireSearchableIndex(c, params.index_name);
    const { picture, text } = await readQuestion(c.req.raw);
    await requireKind(picture.subarray(0, HEAD_BYTES), "image");
    const timings = new Timings();
    const { top_k: topK, top_p: topP, modes = [], collapse } = query;
    const request = searchFor({ query: text, topK, topP, modes, collapse });
    const { hits, total } = await meteredSearch(c, async (env) => {
      const look = () => likenessOfPicture(env, index.indexId, picture).catch(toRefusal);
      const like = await timings.time("picture", look);
      return search(env, index.indexId, request, like, timings);
    });
    c.header("Server-Timing", timings.toHeader());
    const page = { offset: 0, readyBy: request.readyBy, total, count: total };
    return toSearchResult(hits, page, mediaUrls(c));
  },
);

/** The picture, and the words that go with it, if any. */
async function readQuestion(request: Request): Promise<{ picture: Uint8Array; text: string }> {
  const pictures: Uint8Array[] = [];
  const fields = await readForm(request, async (part) => {
    if (part.field === "image_file") pictures.push(await readSmall(part, LIMITS.imageBytes));
  });
  const { query } = requireFields(
    form,
    fields,
    pictures.map(() => "image_file"),
  );
  return { picture: pictures.at(-1)!, text: query };
}

/** What is wrong with the file is wrong with the request. */
function toRefusal(error: unknown): never {
  if (!(error instanceof AppError && error.code === "unreadable_image")) throw error;
  throw invalid(["body", "image_file"], "value_error", error.message);
}
