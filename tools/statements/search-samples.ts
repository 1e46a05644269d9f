import type { AssetScope, Condition } from "../../src/store/index-database/asset-scope.ts";
import type { FtsSearch } from "../../src/store/index-database/fulltext.ts";
import type { Grouping } from "../../src/store/index-database/groups.ts";
import type { SegmentQuery } from "../../src/store/index-database/index-database.ts";
import { FIELDS, SEGMENT_ID } from "./samples.ts";

const CONDITIONS: Condition[] = [
  { field: "created_at", operator: "$gt", operand: 1 },
  { field: "duration_seconds", operator: "$ne", operand: 1 },
  { field: "place.name", operator: "$in", operand: ["words", null] },
  { field: "camera", operator: "$eq", operand: "A" },
];

export const WIDE_SCOPE: AssetScope = {
  kinds: ["video", "image", "audio"],
  assetIds: [],
  exceptAssetId: null,
  conditions: [],
  readyBy: 1,
};
const NARROW_SCOPE: AssetScope = {
  ...WIDE_SCOPE,
  assetIds: [String(FIELDS["assetId"])],
  exceptAssetId: "img_1",
  conditions: CONDITIONS,
};

export const FULL_TEXT: FtsSearch = {
  query: { words: ["words"], phrases: [], excluded: [["other"]] },
  tokens: [{ word: "words", stem: "word" }],
  columns: ["caption", "transcript"],
  limit: 1,
} as unknown as FtsSearch;

const QUERY: SegmentQuery = {
  scope: WIDE_SCOPE,
  fullText: FULL_TEXT,
  counts: null,
  ids: [SEGMENT_ID],
  excludedIds: [],
  rules: { must: "words", mustNot: "other" },
  maxBytes: 1_000_000,
};

const COUNTS = {
  total: 100,
  withText: 100,
  matches: [1],
  stems: [{ stem: "word", count: 1 }],
};

/** Queries of segments that take each way through a database of an index. */
export const SEGMENT_QUERIES: SegmentQuery[] = [
  QUERY,
  { ...QUERY, counts: { database: COUNTS, index: COUNTS } },
  { ...QUERY, scope: NARROW_SCOPE, counts: { database: COUNTS, index: COUNTS } },
  { ...QUERY, fullText: { ...FULL_TEXT, among: [SEGMENT_ID] } },
];

/** Groupings whose statements differ. */
export const GROUPINGS: Grouping[] = [
  { by: "asset" },
  { by: "asset_type" },
  { by: "label" },
  { by: "taken_at", characters: 7 },
  { by: "field", column: "metadata", path: "camera" },
];
