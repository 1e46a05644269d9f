import { z } from "@hono/zod-openapi";
import { fingerprint } from "../fingerprint.ts";
import type { Context } from "../http/context.ts";
import { addEndpoint, type createRouter } from "../http/endpoint.ts";
import { countWork } from "../http/metering.ts";
import { INVALID_CURSOR } from "../http/pagination.ts";
import { createMediaUrlSigner } from "../http/signed-url.ts";
import { costGate } from "../metering/cost-gate.ts";
import { INDEX_GROUP } from "../parameters.ts";
import { IndexGroup, type PartialIndex } from "../search/index-group.ts";
import type { SearchRequest } from "../search/request.ts";
import { searchAny } from "../search/search-any.ts";
import { requireQuota } from "../store/d1/quotas.ts";
import { Timings } from "../timings.ts";
import type { MediaIndexRow } from "../types.ts";
import { formatGroupCursor, parseGroupCursor } from "./group-cursor.ts";
import {
  indexNamesField,
  type NamedIndices,
  partialField,
  requireNamedIndices,
  singleIndexIssues,
  toPartialRecord,
} from "./index-names.ts";
import { searchResult, toSearchResult } from "./records/search-result.ts";

const cursorField = z
  .string()
  .refine((cursor) => parseGroupCursor(cursor) !== null, INVALID_CURSOR)
  .optional()
  .describe("`next_cursor` of the previous page, with the other fields unchanged.");

const groupResult = searchResult
  .omit({ job_id: true, state: true })
  .extend({ partial: partialField })
  .openapi("GroupSearchResult", {
    description: "Segments of several indices that match, and the indices that did not answer.",
  });

/** What the search of an index defines, and that over several shares with it. */
interface IndexSearch {
  body: z.ZodObject;
  /** Reads validated fields. `name` is part of the cursor's tag. */
  toRequest: (name: string, fields: Record<string, unknown>) => SearchRequest;
}

/** Returns the fields of an index's search without ids of one index, and without jobs. */
function groupFields({ body }: IndexSearch): Record<string, z.ZodType> {
  const { asset_ids: _ids, queue_job: _job, cursor: _cursor, ...fields } = body.shape;
  return fields;
}

/** Returns the rules about several fields, such as that a query or an example is needed. */
function rulesOf({ body }: IndexSearch) {
  return (body.def.checks ?? []) as z.core.$ZodCheck<object>[];
}

/** Adds the search over several indices, with the fields and rules of that of one. */
export function addGroupSearch(
  router: ReturnType<typeof createRouter>,
  indexSearch: IndexSearch,
): void {
  const body = z
    .object({ ...groupFields(indexSearch), index_names: indexNamesField, cursor: cursorField })
    .check(...rulesOf(indexSearch));
  addEndpoint(
    router,
    {
      method: "post",
      path: "/search",
      operationId: "searchIndices",
      summary: "Search several indices with words",
      description:
        `Searches up to ${INDEX_GROUP.maxIndices} indices of the account as one: with one ranking ` +
        "by `score`, in which near-identical segments of different indices are one hit, too. " +
        "Takes the fields of an index's search. An index that fails or is late is named in " +
        "`partial`, and the others are searched without it. Each index counts as one search.",
      errors: {
        not_found: "The account has no index of one of the names.",
        upstream_unavailable: "No index answered.",
        upstream_timeout: "No index answered in time.",
      },
      scope: "read",
      body,
      rules: (_, sent) => singleIndexIssues("body", sent.body),
      examples: {
        all: {
          summary: "In all indices",
          value: { index_names: ["*"], query: "dog on a beach", top_k: 5 },
        },
        named: {
          summary: "In one of them, the best moment of each video",
          value: { index_names: ["holidays"], query: "red car", group_by: "asset" },
        },
      },
      response: groupResult,
    },
    (c, { body: { index_names: names, cursor, ...fields } }) =>
      searchIndices(c, indexSearch, names, cursor, fields),
  );
}

async function searchIndices(
  c: Context,
  { toRequest }: IndexSearch,
  names: readonly string[],
  cursor: string | undefined,
  fields: Record<string, unknown>,
) {
  const timings = new Timings();
  const { position, tags } = parseGroupCursor(cursor) ?? FIRST_PAGE;
  const sortedNames = [...new Set(names)].toSorted().join();
  const request = toRequest(sortedNames, { ...fields, ...(position && { cursor: position }) });
  const { indices, others } = selectPaged(await requireNamedIndices(c, names), tags);
  const { accountId } = c.get("caller");
  const quota = { searches_per_day: indices.length };
  await costGate(c.env).admit(requireQuota(c.env.DB, accountId, quota));
  const group = new IndexGroup(indices, INDEX_GROUP.timeoutMs);
  const found = await searchAny(c.env, group, request, null, timings);
  countWork(c, "searches", indices.length);
  c.header("Server-Timing", timings.toHeader());
  const { offset, readyBy, cursorTag } = request;
  const page = { ...found, offset, readyBy, cursorTag, count: found.hits.length };
  const result = await toSearchResult(found.hits, page, createMediaUrlSigner(c));
  const answered = tags ?? group.answered.map(toTag);
  return {
    ...result,
    next_cursor: result.next_cursor && formatGroupCursor(result.next_cursor, answered),
    partial: [...group.partial, ...others].map(toPartialRecord),
  };
}

const FIRST_PAGE = { position: null, tags: null };

const toTag = ({ indexId }: Pick<MediaIndexRow, "indexId">) => fingerprint(indexId);

/** Keeps to the indices that the first page has, so that no later page has hits of others. */
function selectPaged({ indices, others }: NamedIndices, tags: string[] | null): NamedIndices {
  if (tags === null) return { indices, others };
  const [paged, left] = [true, false].map((isPaged) =>
    indices.filter((index) => tags.includes(toTag(index)) === isPaged),
  );
  const partial = left!.map(({ name }): PartialIndex => ({ name, reason: NOT_PAGED }));
  return { indices: paged!, others: [...partial, ...others] };
}

const NOT_PAGED =
  "The first page was made without this index, so that the next ones are, too; search again.";
