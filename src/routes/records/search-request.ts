import { lineOfText } from "../../clean-text.ts";
import { LIMITS, SEARCH } from "../../config.ts";
import { toCamelFields } from "../../field-names.ts";
import { fingerprint } from "../../fingerprint.ts";
import { anyObject, flag, list, share, text } from "../../http/fields.ts";
import { INVALID_CURSOR } from "../../http/pagination.ts";
import { jsonText, strictInt } from "../../http/validation.ts";
import * as z from "../../http/zod.ts";
import { ID_CHARACTERS } from "../../ids.ts";
import { normalizeText } from "../../normalize-text.ts";
import { AGGREGATE, FEEDBACK, LOGIC, SEQUENCES } from "../../parameters.ts";
import { hasWord } from "../../search/query.ts";
import {
  makeSearchRequest,
  MODES,
  type SearchRequest,
  type Subquery,
} from "../../search/request.ts";
import {
  type Condition,
  type Operator,
  OPERATORS,
  type Scalar,
} from "../../store/index-database/asset-scope.ts";
import { GROUPINGS, parseGrouping } from "../../store/index-database/groups.ts";
import { isObject } from "../../user-metadata.ts";
import { isCursorPosition, parseCursor } from "./search-result.ts";

type ReportIssue = (path: string[], type: string, message: string) => void;

const EXPECTED_TYPES = new Map([
  ["created_at", "a time with its zone, or a day like 2026-01-31"],
  ["technical.taken_at", "a time with its zone, or a day like 2026-01-31, or null"],
  ["duration_seconds", "number or null"],
]);
const DAY = z.iso.date();
const TIME = z.iso.datetime({ offset: true });
/** The last time of four digits: times are compared as text. */
const LAST_TIME = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

const FILTER_DESCRIPTION =
  'Conditions on the metadata of assets, such as `{"year": {"$gte": 2024}, "camera": "A"}`; ' +
  "also on `title`, `folder`, `created_at`, `duration_seconds` and facts of the file, such as " +
  '`{"technical.taken_at": {"$gte": "2024-06-01"}}`. Operators: `$eq $ne $in $nin $lt $lte $gt ' +
  "$gte`; keys of nested objects with dots between them, or in them. All must hold.";

const ALL_HOLD =
  'A filter has fields, all of which must hold, and no operator here. Alternatives of one field: {"year": {"$in": [2023, 2024]}}';
const USE_IN = '. For one of several, use $in: {"year": {"$in": [2023, 2024]}}';

/** Schema of a filter such as `{"year": {"$gte": 2024}, "camera": "A"}`. All rules must match. */
export const searchFilter = anyObject().superRefine((filter, ctx) => {
  readFilter(filter, (path, type, message) =>
    ctx.addIssue({ code: "custom", path, message, params: { type } }),
  );
});

export const filterField = searchFilter.describe(FILTER_DESCRIPTION).default({});

/** Converts a filter to conditions. Reports invalid rules and omits them from the result. */
export function readFilter(
  filter: Record<string, unknown>,
  report: ReportIssue = () => {},
): Condition[] {
  const ruleCounts = Object.values(filter).map((value) =>
    isObject(value) ? Object.keys(value).length : 1,
  );
  if (ruleCounts.reduce((sum, count) => sum + count, 0) > LIMITS.filterRuleCount) {
    report([], "too_long", `A filter has at most ${LIMITS.filterRuleCount} rules`);
    return [];
  }
  return Object.entries(filter).flatMap(([field, value]) => {
    if (field === "" || field.startsWith("$")) {
      const message = field === "" ? "A field is a key, or keys with dots between them" : ALL_HOLD;
      report([field], "value_error", message);
      return [];
    }
    const rules = isObject(value) ? Object.entries(value) : [["$eq", value] as const];
    if (rules.length === 0) {
      report([field], "value_error", `Input should have one of ${OPERATORS.join(", ")}`);
    }
    return rules.flatMap(([name, operand]) => {
      const operator = OPERATORS.find((one) => one === name);
      const path = isObject(value) ? [field, name] : [field];
      if (!operator) {
        report(path, "literal_error", `Input should be one of ${OPERATORS.join(", ")}`);
        return [];
      }
      const checked = readOperand(field, operator, operand, (type, message) =>
        report(path, type, message),
      );
      return checked === undefined
        ? []
        : [{ field: normalizeText(field, "NFC"), operator, operand: checked }];
    });
  });
}

function readOperand(
  field: string,
  operator: Operator,
  operand: unknown,
  report: (type: string, message: string) => void,
): Scalar | Scalar[] | undefined {
  const isList = operator === "$in" || operator === "$nin";
  if (isList && !Array.isArray(operand)) {
    report("list_type", "Input should be a valid list");
    return undefined;
  }
  const values = [];
  for (const value of isList ? (operand as unknown[]) : [operand]) {
    const scalar = readScalar(field, value);
    if (scalar === undefined) {
      const expected = EXPECTED_TYPES.get(field) ?? "text, number, boolean or null";
      report("value_error", `Input should be ${expected}${Array.isArray(value) ? USE_IN : ""}`);
      return undefined;
    }
    values.push(scalar);
  }
  if (values.length > LIMITS.assetIdCount) {
    report("too_long", `A list has at most ${LIMITS.assetIdCount} values`);
    return undefined;
  }
  return isList ? values : values[0];
}

/** Reads a scalar operand. Times become UTC; a day stays one. */
function readScalar(field: string, value: unknown): Scalar | undefined {
  if (field === "created_at" || (field === "technical.taken_at" && value !== null)) {
    if (DAY.safeParse(value).success) return value as string;
    const time = TIME.safeParse(value).data;
    return time && new Date(Math.min(Date.parse(time), LAST_TIME)).toISOString();
  }
  if (field === "duration_seconds") {
    return typeof value === "number" || value === null ? value : undefined;
  }
  if (typeof value === "string") return normalizeText(value, "NFC");
  const isScalar = value === null || typeof value === "number" || typeof value === "boolean";
  return isScalar ? value : undefined;
}

/** Issue of a query in which there is nothing to search for: `?`, an emoji, blanks. */
export const NO_WORD = "a query needs a word or a number";

/** Schema of a query that must have a word or a number, of 1 to 2,000 characters. */
export function queryText() {
  return lineOfText(LIMITS.queryCharacters, 1).refine(hasWord, NO_WORD);
}

const MODES_DESCRIPTION =
  "Kinds of assets (`video` with pictures, `audio` without, `image`) and kinds of evidence " +
  "(`visual`, `speech`, `text`, and `title` for title, folder, description and keywords of the " +
  "file) to search. Default: all.";
export const modesField = z.array(z.enum(MODES)).max(MODES.length).default([]);

export const similarTo = text("Id of a segment or an asset of the index: finds what is like it.")
  .max(ID_CHARACTERS)
  .optional();

const segmentIds = (maxCount: number) =>
  z.array(z.string().max(ID_CHARACTERS)).max(maxCount).default([]);

/** Characters of a grouping's name, most of which are the path of a field. */
const MAX_GROUPING_CHARACTERS = 500;

/** Schema of what segments are grouped by, such as `metadata.camera`. */
export const groupingName = z
  .string()
  .max(MAX_GROUPING_CHARACTERS)
  .refine((name) => parseGrouping(name) !== null, `Input should be one of ${GROUPINGS}`)
  .openapi({ example: "metadata.camera" });

/** Applies a rule of several fields also where others have issues. */
export const whenObject = ({ value }: { value: unknown }) => isObject(value);

const MAX_SUBQUERIES = 5;

const subquery = z
  .union([
    queryText(),
    z
      .object({
        query: queryText().optional().describe("What to find, in everyday words."),
        similar_to: similarTo,
        modes: modesField.describe(MODES_DESCRIPTION),
      })
      .refine(({ query, similar_to }) => (query === undefined) !== (similar_to === undefined), {
        path: ["query"],
        message: "give either `query` or `similar_to`",
        when: whenObject,
      }),
  ])
  .openapi("Subquery", {
    description: "One of several things to find: words, or something to be like.",
    example: { query: "a boat", modes: ["visual"] },
  });

function toSubquery(sent: z.output<typeof subquery>): Subquery {
  if (typeof sent === "string") return { query: sent, similarTo: null, modes: [] };
  return { query: sent.query ?? "", similarTo: sent.similar_to ?? null, modes: sent.modes };
}

export const searchFields = z.object({
  query: lineOfText(LIMITS.queryCharacters, 1)
    .optional()
    .describe("What to find, in everyday words. Required without `similar_to`, `all` and `none`."),
  similar_to: similarTo,
  sequence: list(
    subquery,
    "In place of `query`: what comes first, then what comes next, in one video. Finds segments in " +
      "this order that don't overlap.",
  )
    .min(2)
    .max(MAX_SUBQUERIES)
    .optional(),
  within_seconds: z
    .number()
    .gt(0)
    .max(SEQUENCES.maxWithinSeconds)
    .default(SEQUENCES.defaultWithinSeconds)
    .describe("Longest time between the end of a step of `sequence` and the start of the next."),
  more_like: segmentIds(FEEDBACK.maxSegments).describe(
    "Ids of segments that are right: what is like them comes first.",
  ),
  less_like: segmentIds(FEEDBACK.maxSegments).describe(
    "Ids of segments that are wrong: they are left out, and what is like them moves back.",
  ),
  skipped: segmentIds(FEEDBACK.maxSkipped).describe(
    "Ids of results that were passed over: they are left out, so that others come. " +
      "Those that the index lacks are ignored.",
  ),
  all: list(subquery, "What has to be there, too: `score` is the probability of all of it.")
    .max(MAX_SUBQUERIES)
    .default([]),
  none: list(
    subquery,
    "What mustn't be there: `score` includes the probability that it is absent. Without a " +
      "query, finds segments of which that is likely, among those added last.",
  )
    .max(MAX_SUBQUERIES)
    .default([]),
  scope_seconds: z
    .number()
    .min(0)
    .max(LOGIC.maxScopeSeconds)
    .default(0)
    .describe("How far away in the video `all` and `none` count. 0: only in the segment itself."),
  asset_ids: list(z.string(), "Ids of videos and images to search in. Empty: all.")
    .max(LIMITS.assetIdCount)
    .default([]),
  top_k: strictInt()
    .min(1)
    .max(LIMITS.topK)
    .default(SEARCH.defaultTopK)
    .describe("Segments to return on a page."),
  top_p: share("Lowest `score` to return, from 0 to 1. At 0.5, most results are relevant.").default(
    0,
  ),
  modes: modesField.describe(MODES_DESCRIPTION),
  use_boxes: flag("Whether `boxes` say where the query is seen. Takes longer.").default(false),
  use_masks: flag("Whether `mask` has the pixels of what is meant. Takes longer.").default(false),
  collapse: flag("Whether near-identical segments become one hit.").default(true),
  correct: flag(
    "Whether a word that no segment has is searched for as one that differs by one edit. " +
      "`query.corrected` of the response says so.",
  ).default(true),
  queue_job: flag("Whether the search runs as a job, named by `job_id`.").default(false),
  filter: filterField,
  group_by: z
    .enum(["segment", "asset"])
    .default("segment")
    .describe("`asset`: only the best segment of each video or image."),
  facets: list(
    groupingName,
    "What to count the hits of all pages by: `label`, `asset_type`, `metadata.camera`, " +
      "`taken_at.year` and other groupings of `/aggregate`.",
  )
    .max(AGGREGATE.maxFacets)
    .default([]),
  cursor: text("`next_cursor` of the previous page, with the other fields unchanged.")
    .refine(isCursorPosition, INVALID_CURSOR)
    .optional(),
});

/** Adds the rules of what a body asks for: anything, and a word unless there is an example. */
export function withSubject<Fields extends z.ZodObject>(fields: Fields): Fields {
  const required = { message: "Field required", params: { type: "missing" } };
  return fields
    .refine(
      ({ query, similar_to, sequence, all = [], none = [] }) =>
        (query ?? similar_to ?? sequence) !== undefined || [all, none].flat().length > 0,
      { path: ["query"], when: whenObject, ...required },
    )
    .refine(
      ({ query, similar_to }) =>
        typeof query !== "string" || similar_to !== undefined || hasWord(query),
      { path: ["query"], when: whenObject, message: NO_WORD },
    );
}

export const searchBody = withSubject(searchFields).superRefine((body, ctx) => {
  if (body.sequence === undefined) return;
  const refuse = (field: string, message: string) =>
    ctx.addIssue({ code: "custom", path: [field], message });
  if (body.query !== undefined || body.similar_to !== undefined) {
    refuse("sequence", "give `sequence` in place of `query` and `similar_to`, not beside them");
  }
  for (const field of ["more_like", "less_like", "skipped", "all", "none"] as const) {
    if (body[field].length === 0) continue;
    refuse(field, `\`${field}\` belongs to a search for one thing, not to a \`sequence\``);
  }
});

export type SearchBody = z.output<typeof searchBody>;

const { queue_job: _job, ...waitedFields } = searchFields.shape;
const { asset_ids: _ids, ...groupFields } = waitedFields;
/** Makes a body of some of the fields, with the rules of all. */
const withRules = <Shape extends z.ZodRawShape>(shape: Shape) =>
  z.object(shape).check(...((searchBody.def.checks ?? []) as z.core.$ZodCheck<object>[]));
/** The body of a search that isn't a job; and of several indices, in which ids name no asset. */
export const waitedSearchBody = withRules(waitedFields);
export const groupSearchBody = withRules(groupFields);

export function toSubqueries(body: SearchBody) {
  const [all, none] = [body.all.map(toSubquery), body.none.map(toSubquery)];
  const hasConditions = all.length + none.length > 0;
  return {
    query: body.query ?? "",
    similarTo: body.similar_to ?? null,
    sequence: (body.sequence ?? []).map(toSubquery),
    logic: hasConditions ? { all, none, scopeSeconds: body.scope_seconds } : null,
  };
}

/** `covered` names what is searched, for the cursor: the id of an index, or a list of indices. */
export function toSearchRequest(covered: string, body: SearchBody): SearchRequest {
  const { cursor, top_k: _topK, queue_job: _queueJob, ...repeated } = body;
  return makeSearchRequest({
    ...toCamelFields(body),
    ...toSubqueries(body),
    conditions: readFilter(body.filter),
    facetNames: body.facets,
    ...parseCursor(cursor, fingerprint([covered, repeated])),
  });
}

/** Parameters of a search by an uploaded image or clip: those of a search with words. */
export const exampleQuery = searchFields
  .pick({
    top_k: true,
    top_p: true,
    modes: true,
    asset_ids: true,
    group_by: true,
    collapse: true,
  })
  .extend({ filter: jsonText(searchFilter).describe(`As JSON: ${FILTER_DESCRIPTION}`) });

/** Makes the request of a search by an example, beside the words of `text`. */
export function toExampleRequest(
  query: z.output<typeof exampleQuery>,
  text: string,
): SearchRequest {
  const { filter = {}, ...fields } = query;
  return makeSearchRequest({
    ...toCamelFields(fields),
    query: text,
    conditions: readFilter(filter),
  });
}
