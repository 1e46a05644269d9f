import { z } from "@hono/zod-openapi";
import { LIMITS, SEARCH } from "../config.ts";
import { fingerprint } from "../fingerprint.ts";
import { requireAssets } from "../http/caller-records.ts";
import type { Context } from "../http/context.ts";
import { addEndpoint, createRouter, type Input } from "../http/endpoint.ts";
import { countWork } from "../http/metering.ts";
import { INVALID_CURSOR } from "../http/pagination.ts";
import { createMediaUrlSigner } from "../http/signed-url.ts";
import { bodyInt } from "../http/validation.ts";
import { ID_CHARACTERS } from "../ids.ts";
import { ignoreUntilAwaited } from "../ignored-errors.ts";
import { AGGREGATE, FEEDBACK } from "../parameters.ts";
import { hasWord } from "../search/query.ts";
import { MODES, type SearchRequest } from "../search/request.ts";
import { searchAny } from "../search/search-any.ts";
import { Timings } from "../timings.ts";
import { isObject } from "../user-metadata.ts";
import { MODES_DESCRIPTION, NO_WORD } from "./example-query.ts";
import { RECORDS_FULL } from "./records/fields.ts";
import { groupingName } from "./records/grouping.ts";
import { indexParams } from "./records/index-record.ts";
import { logicFields, toLogic } from "./records/logic-fields.ts";
import {
  isCursorPosition,
  parseCursor,
  searchResult,
  toSearchResult,
} from "./records/search-result.ts";
import { refuseBesideSequence, sequenceFields } from "./records/sequence-fields.ts";
import { toSubquery } from "./records/subquery.ts";
import { addGroupSearch } from "./search-across.ts";
import { FILTER_DESCRIPTION, readFilter, searchFilter } from "./search-filter.ts";
import { queueSearch, requireSearchableIndex, searchCallerIndex } from "./searchable-index.ts";

export const searchRoutes = createRouter("Search");

const searchBody = z
  .object({
    query: z
      .string()
      .min(1)
      .max(LIMITS.queryCharacters)
      .optional()
      .describe(
        "What to find, in everyday words. Required unless `similar_to`, `all` or `none` is given.",
      ),
    similar_to: z
      .string()
      .max(ID_CHARACTERS)
      .optional()
      .describe("Id of a segment or an asset of the index: finds what is like it."),
    ...sequenceFields,
    more_like: z
      .array(z.string().max(ID_CHARACTERS))
      .max(FEEDBACK.maxSegments)
      .default([])
      .describe("Ids of segments that are right: what is like them comes first."),
    less_like: z
      .array(z.string().max(ID_CHARACTERS))
      .max(FEEDBACK.maxSegments)
      .default([])
      .describe(
        "Ids of segments that are wrong: they are left out, and what is like them moves back.",
      ),
    skipped: z
      .array(z.string().max(ID_CHARACTERS))
      .max(FEEDBACK.maxSkipped)
      .default([])
      .describe(
        "Ids of results that were passed over: they are left out, so that others come. " +
          "Those that the index lacks are ignored.",
      ),
    ...logicFields,
    asset_ids: z
      .array(z.string())
      .max(LIMITS.assetIdCount)
      .default([])
      .describe("Ids of videos and images to search in. Empty: all."),
    top_k: bodyInt()
      .min(1)
      .max(LIMITS.topK)
      .default(SEARCH.defaultTopK)
      .describe("Segments to return on a page."),
    top_p: z
      .number()
      .min(0)
      .max(1)
      .default(0)
      .describe("Lowest `score` to return, from 0 to 1. At 0.5, most results are relevant."),
    modes: z.array(z.enum(MODES)).max(MODES.length).default([]).describe(MODES_DESCRIPTION),
    use_boxes: z
      .boolean()
      .default(false)
      .describe("Whether segments say where the query is seen, in `boxes`. Takes longer."),
    use_masks: z
      .boolean()
      .default(false)
      .describe("Whether segments have a `mask` of what the query means. Takes longer."),
    collapse: z
      .boolean()
      .default(true)
      .describe("Whether near-identical segments are one, with the others in `duplicates`."),
    correct: z
      .boolean()
      .default(true)
      .describe(
        "Whether a word that no segment has is searched for as one that differs by one edit. " +
          "`query.corrected` of the response says so.",
      ),
    queue_job: z
      .boolean()
      .default(false)
      .describe("Whether the search runs as a job: the response has its `job_id` at once."),
    filter: searchFilter.default({}).describe(FILTER_DESCRIPTION),
    group_by: z
      .enum(["segment", "asset"])
      .default("segment")
      .describe("`asset`: only the best segment of each video or image."),
    facets: z
      .array(groupingName)
      .max(AGGREGATE.maxFacets)
      .default([])
      .describe(
        "What to count the hits of all pages by: `label`, `asset_type`, `metadata.camera`, " +
          "`taken_at.year` and other groupings of `/aggregate`.",
      ),
    cursor: z
      .string()
      .refine(isCursorPosition, INVALID_CURSOR)
      .optional()
      .describe("`next_cursor` of the previous page, with the other fields unchanged."),
  })
  .refine((body) => hasSubject(body), {
    path: ["query"],
    message: "Field required",
    params: { type: "missing" },
    when: ({ value }) => isObject(value), // reported together with other issues
  })
  .refine(({ query, similar_to }) => !query || similar_to !== undefined || hasWord(query), {
    path: ["query"],
    message: NO_WORD,
    when: ({ value }) => isObject(value),
  })
  .check(refuseBesideSequence);

addEndpoint(
  searchRoutes,
  {
    method: "post",
    path: "/index/{index_name}/search",
    operationId: "searchIndex",
    summary: "Search with words",
    description:
      "Finds the segments of videos and images that match a query: by what is seen, said, written " +
      "in the image, and described. With `sequence`, finds several moments of one video in order. Results are sorted by `score`, a calibrated probability. An " +
      "index without ready assets returns no segments. docs/search-guide.md explains each field.",
    errors: { account_full: RECORDS_FULL },
    scope: "read",
    params: indexParams,
    body: searchBody,
    examples: {
      template: {
        summary: "All fields of the specification",
        value: {
          query: "the moment she drops the cup",
          asset_ids: [],
          top_k: 30,
          top_p: 0,
          modes: ["video", "image"],
          use_masks: false,
          use_boxes: false,
          queue_job: false,
        },
      },
      short: { summary: "Only a query", value: { query: "dog on a beach", top_k: 5 } },
      filtered: {
        summary: "What is said, in videos of 2024 and later",
        value: {
          query: "interest rates",
          modes: ["video", "speech"],
          filter: { year: { $gte: 2024 } },
          top_p: 0.5,
        },
      },
      logic: {
        summary: "A beach with a dog and without people",
        value: { query: "beach", all: ["dog"], none: ["people"] },
      },
      boxes: {
        summary: "Where it is seen",
        value: { query: "red car", use_boxes: true, group_by: "asset" },
      },
      sequence: {
        summary: "First one, then the other, within half a minute",
        value: { sequence: ["a boat", "a lighthouse"], within_seconds: 30 },
      },
    },
    response: searchResult,
  },
  searchIndex,
);

addGroupSearch(searchRoutes, {
  body: searchBody,
  toRequest: (names, fields) => toSearchRequest(names, searchBody.parse(fields)),
});

async function searchIndex(
  c: Context,
  { params, body }: Input<typeof indexParams, z.ZodObject, typeof searchBody>,
) {
  const request = toSearchRequest(params.index_name, body);
  if (body.queue_job) {
    const index = await requireSearchableIndex(c, params.index_name);
    await requireAssets(c.env.DB, index.indexId, body.asset_ids);
    return queueSearch(c.env, index, request, null);
  }
  return searchNow(c, params.index_name, request);
}

async function searchNow(c: Context, indexName: string, request: SearchRequest) {
  const timings = new Timings();
  const searched = await searchCallerIndex(c, indexName, async (index) => {
    const found = searchAny(c.env, index, request, null, timings);
    found.catch(ignoreUntilAwaited); // an unknown asset is reported first
    await requireAssets(c.env.DB, index.indexId, request.assetIds);
    return found;
  });
  const { hits, total, next, calibration, interpretation, facets } = searched;
  countWork(c, "searches");
  c.header("Server-Timing", timings.toHeader());
  const { offset, readyBy, cursorTag } = request;
  const count = hits.length;
  const page = { offset, readyBy, cursorTag, total, next, count, calibration, interpretation };
  return toSearchResult(hits, { ...page, facets }, createMediaUrlSigner(c));
}

/** Tests whether a body says what to find, or what mustn't be there. */
function hasSubject(body: {
  query?: unknown;
  similar_to?: unknown;
  sequence?: unknown;
  all?: unknown;
  none?: unknown;
}): boolean {
  const isGiven = (list: unknown) => Array.isArray(list) && list.length > 0;
  const { query, similar_to: similarTo, sequence, all, none } = body;
  const isOne = query !== undefined || similarTo !== undefined || sequence !== undefined;
  return isOne || isGiven(all) || isGiven(none);
}

function toSearchRequest(indexName: string, body: z.output<typeof searchBody>): SearchRequest {
  const { cursor, top_k, queue_job: _, ...repeated } = body;
  const cursorTag = fingerprint([indexName, repeated]);
  return {
    query: body.query ?? "",
    similarTo: body.similar_to ?? null,
    sequence: (body.sequence ?? []).map(toSubquery),
    withinSeconds: body.within_seconds,
    moreLike: body.more_like,
    lessLike: body.less_like,
    skipped: body.skipped,
    assetIds: body.asset_ids,
    conditions: readFilter(body.filter),
    topK: top_k,
    topP: body.top_p,
    modes: body.modes,
    logic: toLogic(body),
    useBoxes: body.use_boxes,
    useMasks: body.use_masks,
    correct: body.correct,
    collapse: body.collapse,
    groupBy: body.group_by,
    facetNames: body.facets,
    ...parseCursor(cursor, cursorTag),
  };
}
