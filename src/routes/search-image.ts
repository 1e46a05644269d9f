import { z } from "@hono/zod-openapi";
import { LIMITS, SEARCH } from "../config.ts";
import { AppError, invalid, ValidationError } from "../errors.ts";
import { HEAD_BYTES, requireKind } from "../media/kind.ts";
import { meter } from "../models/meter.ts";
import { likenessOfPicture } from "../search/picture.ts";
import { MODES, searchFor } from "../search/request.ts";
import { search } from "../search/search.ts";
import { requireRoom } from "../store/limits.ts";
import { addUsage } from "../store/usage.ts";
import { Timings } from "../timings.ts";
import { addEndpoint, createRouter } from "./endpoint.ts";
import { missingFile, readForm, readSmall } from "./form.ts";
import { indexParams } from "./index-record.ts";
import { requireOwnIndex } from "./indices.ts";
import { mediaUrls } from "./media-url.ts";
import { queryBool, queryFloat, queryInt, queryList } from "./query-types.ts";
import { searchResult, toSearchResult } from "./search-result.ts";

export const searchImageRoutes = createRouter();

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
    form: z.object({
      image_file: z.any().openapi({ type: "string", format: "binary" }),
      query: z.string().max(LIMITS.queryCharacters).optional(),
    }),
    response: searchResult,
  },
  async (c, { params, query }) => {
    const index = await requireOwnIndex(c, params.index_name);
    await requireRoom(c.env.DB, index.accountId, { searches_per_day: 1 });
    const { picture, text } = await readQuestion(c.req.raw);
    await requireKind(picture.subarray(0, HEAD_BYTES), "image");
    const { ai, used } = meter(c.env.AI);
    const env = { ...c.env, AI: ai };
    const timings = new Timings();
    const { top_k: topK, top_p: topP, modes = [], collapse } = query;
    const request = searchFor({ query: text, topK, topP, modes, collapse });
    const look = () => likenessOfPicture(env, index.indexId, picture).catch(toRefusal);
    const like = await timings.time("picture", look);
    const { hits, total } = await search(env, index.indexId, request, like, timings);
    c.header("Server-Timing", timings.toHeader());
    c.executionCtx.waitUntil(addUsage(c.env.DB, index.accountId, { searches: 1, ...used }));
    const page = { offset: 0, readyBy: request.readyBy, total, count: total };
    return toSearchResult(hits, page, mediaUrls(c));
  },
);

/** The picture, and the words that go with it, if any. */
async function readQuestion(request: Request): Promise<{ picture: Uint8Array; text: string }> {
  let picture: Uint8Array | null = null;
  const fields = await readForm(request, async (part) => {
    if (part.field === "image_file") picture = await readSmall(part, LIMITS.imageBytes);
  });
  const text = fields.get("query") ?? "";
  const issues = [
    ...(text.length > LIMITS.queryCharacters ? [tooLong()] : []),
    ...(picture ? [] : [missingFile("image_file", fields)]),
  ].flatMap((error) => error.issues);
  if (picture === null || issues.length > 0) throw new ValidationError(issues);
  return { picture, text: text.trim() };
}

/** What is wrong with the file is wrong with the request. */
function toRefusal(error: unknown): never {
  if (!(error instanceof AppError && error.code === "unreadable_image")) throw error;
  throw invalid(["body", "image_file"], "value_error", error.message);
}

function tooLong(): ValidationError {
  const most = `String should have at most ${LIMITS.queryCharacters} characters`;
  return invalid(["body", "query"], "string_too_long", most);
}
