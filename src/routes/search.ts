import { requireAssets } from "../http/caller-records.ts";
import { addEndpoint, createRouter } from "../http/endpoint.ts";
import { RECORDS_FULL } from "../http/fields.ts";
import * as z from "../http/zod.ts";
import { ignoreUntilAwaited } from "../ignored-errors.ts";
import { INDEX_GROUP } from "../parameters.ts";
import { countSubqueries } from "../search/request.ts";
import { search } from "../search/search.ts";
import { Timings } from "../timings.ts";
import {
  groupSearchBody,
  searchBody,
  toSearchRequest,
  toSubqueries,
} from "./records/search-request.ts";
import { searchResult, toCountedResult } from "./records/search-result.ts";
import {
  indexNamesField,
  partialField,
  singleIndexIssues,
  toPartialRecord,
  queueSearch,
  requireSearchableIndex,
  searchCallerIndex,
  searchNamedIndices,
} from "./searchable-index.ts";

export const searchRoutes = createRouter("Search");

addEndpoint(searchRoutes, "POST /index/{index_name}/search", {
  operationId: "searchIndex",
  summary: "Search with words",
  description:
    "Finds the segments of videos and images that match a query: by what is seen, said, written " +
    "in the image, and described. With `sequence`, finds several moments of one video in order. Results are sorted by `score`, a calibrated probability. An " +
    "index without ready assets returns no segments. docs/search.md explains each field.",
  errors: { account_full: RECORDS_FULL },
  scope: "read",
  body: searchBody,
  examples: {
    "All fields of the specification": {
      query: "a woman with a cup in a kitchen",
      asset_ids: [],
      top_k: 30,
      top_p: 0,
      modes: ["video", "image"],
      use_masks: false,
      use_boxes: false,
      queue_job: false,
    },
    "Only a query": { query: "dog on a beach", top_k: 5 },
    "What is said, in videos of 2024 and later": {
      query: "interest rates",
      modes: ["video", "speech"],
      filter: { year: { $gte: 2024 } },
      top_p: 0.5,
    },
    "A beach with a dog and without people": { query: "beach", all: ["dog"], none: ["people"] },
    "Where it is seen": { query: "red car", use_boxes: true, group_by: "asset" },
    "First one, then the other, within half a minute": {
      sequence: ["a boat", "a lighthouse"],
      within_seconds: 30,
    },
  },
  response: searchResult,
  async handle(c, { params, body }) {
    const { index_name: name } = params;
    const searches = countSubqueries(toSubqueries(body));
    if (body.queue_job) {
      const index = await requireSearchableIndex(c, name, searches);
      await requireAssets(c.env.DB, index.indexId, body.asset_ids);
      return queueSearch(c.env, index, toSearchRequest(index.indexId, body), null);
    }
    const timings = new Timings();
    const searched = await searchCallerIndex(c, name, searches, async (index) => {
      const request = toSearchRequest(index.indexId, body);
      const found = search(c.env, index, request, null, timings);
      found.catch(ignoreUntilAwaited); // an unknown asset is reported first
      await requireAssets(c.env.DB, index.indexId, request.assetIds);
      return { ...(await found), request };
    });
    const { request, ...found } = searched;
    return toCountedResult(c, request, found, timings, searches);
  },
});

const groupResult = searchResult
  .omit({ job_id: true, state: true })
  .extend({ partial: partialField })
  .openapi("GroupSearchResult", {
    description: "Segments of several indices that match, and the indices that did not answer.",
  });

const groupBody = z
  .object({ ...groupSearchBody.shape, index_names: indexNamesField })
  .check(...((groupSearchBody.def.checks ?? []) as z.core.$ZodCheck<object>[]));

addEndpoint(searchRoutes, "POST /search", {
  operationId: "searchIndices",
  summary: "Search several indices with words",
  description:
    `Searches up to ${INDEX_GROUP.maxIndices} indices of the account as one: with one ranking ` +
    "by `score`, in which near-identical segments of different indices are one hit, too. " +
    "Takes the fields of an index's search. An index that fails or is late is named in " +
    "`partial`, and the others are searched without it. The query, each condition and each step " +
    `counts as one search of each index: ${INDEX_GROUP.maxSearches} at most.`,
  errors: {
    not_found: "The account has no index of one of the names.",
    upstream_unavailable: "No index answered.",
    upstream_timeout: "No index answered in time.",
  },
  scope: "read",
  body: groupBody,
  rules: (_, sent) => singleIndexIssues("body", sent.body),
  examples: {
    "In all indices": { index_names: ["*"], query: "dog on a beach", top_k: 5 },
    "In one of them, the best moment of each video": {
      index_names: ["holidays"],
      query: "red car",
      group_by: "asset",
    },
  },
  response: groupResult,
  async handle(c, { body: { index_names: names, ...fields } }) {
    const timings = new Timings();
    const found = await searchNamedIndices(c, names, { ...fields, asset_ids: [] }, timings);
    const { request, searches, partial, ...results } = found;
    const result = await toCountedResult(c, request, results, timings, searches);
    return { ...result, partial: partial.map(toPartialRecord) };
  },
});
