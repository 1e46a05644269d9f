import { z } from "zod";
import { SEQUENCES } from "../parameters.ts";
import { type AssetScope, OPERATORS } from "../store/index-database/asset-scope.ts";
import type { FtsColumn } from "../store/index-database/fulltext.ts";
import { ASSET_KINDS, type AssetKind, type TextKind } from "../types.ts";
import { type Mode, MODES } from "./modes.ts";
import { subqueryRequest } from "./subquery.ts";

export { type Mode, MODES };

const scalar = z.union([z.string(), z.number(), z.boolean(), z.null()]);

/**
 * A position in a ranking: behind the last hit of a page. Scores change a little when segments are
 * deleted, so that the hits themselves count, and the score where none of them is left.
 */
const rankPosition = z.object({
  /** Ids of the last hits of the page, the last one first. */
  segmentIds: z.array(z.string()),
  depth: z.int(),
  score: z.number(),
});
export type RankPosition = z.infer<typeof rankPosition>;

/** A validated search request; the schema parses the requests of queued searches. */
export const searchRequest = z.object({
  /** Empty if there is only an example. */
  query: z.string(),
  /** Id of the segment or asset that is the example. */
  similarTo: z.string().nullable(),
  /** Ids of segments that the user wants more of, and of others that aren't it. */
  moreLike: z.array(z.string()).default([]),
  lessLike: z.array(z.string()).default([]),
  /** Ids of segments that the user has passed over. */
  skipped: z.array(z.string()).default([]),
  /** Assets to search; empty for all. */
  assetIds: z.array(z.string()),
  conditions: z.array(
    z.object({
      field: z.string(),
      operator: z.enum(OPERATORS),
      operand: z.union([scalar, z.array(scalar)]),
    }),
  ),
  topK: z.int(),
  /** Minimum score of a hit, 0–1. */
  topP: z.number(),
  modes: z.array(z.enum(MODES)),
  /** What has to be there beside, or mustn't be; null without. */
  logic: z
    .object({
      all: z.array(subqueryRequest),
      none: z.array(subqueryRequest),
      /** Distance in the video within which it counts; 0 for the segment alone. */
      scopeSeconds: z.number(),
    })
    .nullable()
    .default(null),
  /** The steps of a sequence, in order, in place of a query; empty without. */
  sequence: z.array(subqueryRequest).default([]),
  /** The longest time between the end of a step and the start of the next. */
  withinSeconds: z.number().default(SEQUENCES.defaultWithinSeconds),
  useBoxes: z.boolean(),
  useMasks: z.boolean().default(false),
  /** Whether words that no segment has are corrected. */
  correct: z.boolean().default(false),
  /** Whether near-duplicates become one hit. */
  collapse: z.boolean().default(true),
  /** `asset` returns only the best segment of each asset. */
  groupBy: z.enum(["segment", "asset"]),
  /** What the hits of all pages are counted by, such as `metadata.camera`. */
  facetNames: z.array(z.string()).default([]),
  /** Number of hits on earlier pages. */
  offset: z.int(),
  /** The end of the page before; null for the first page. */
  after: rankPosition.nullable().default(null),
  /** Epoch ms. Assets that became ready later are left out, so that pages don't shift. */
  readyBy: z.int(),
  /** Fingerprint of the request as it was sent, which the cursor of its next page carries. */
  cursorTag: z.string().default(""),
});
export type SearchRequest = z.infer<typeof searchRequest>;

/** Makes a request for the first page of a whole index, with `overrides`. */
export function makeSearchRequest(
  overrides: Partial<SearchRequest> & { topK: number },
): SearchRequest {
  return {
    query: "",
    similarTo: null,
    moreLike: [],
    lessLike: [],
    skipped: [],
    assetIds: [],
    conditions: [],
    topP: 0,
    modes: [],
    logic: null,
    sequence: [],
    withinSeconds: SEQUENCES.defaultWithinSeconds,
    useBoxes: false,
    useMasks: false,
    correct: false,
    collapse: true,
    groupBy: "segment",
    facetNames: [],
    offset: 0,
    after: null,
    readyBy: Date.now(),
    cursorTag: "",
    ...overrides,
  };
}

type EvidenceMode = Exclude<Mode, AssetKind>;
const EVIDENCE_MODES: readonly EvidenceMode[] = ["visual", "speech", "text"];

const COLUMNS_BY_MODE: Record<EvidenceMode, FtsColumn[]> = {
  visual: ["caption", "labels"],
  speech: ["transcript"],
  text: ["on_screen_text"],
};
const TEXT_KINDS_BY_MODE: Record<EvidenceMode, TextKind[]> = {
  visual: ["caption"],
  speech: ["speech"],
  text: ["text"],
};

/** The assets and the kinds of evidence that a search covers. */
export interface SearchScope {
  assets: AssetScope;
  columns: FtsColumn[];
  textKinds: TextKind[];
  useImageVectors: boolean;
  /** Whether terms are matched in labels of boxes, too. */
  useBoxLabels: boolean;
}

type ScopeRequest = Pick<
  SearchRequest,
  "modes" | "assetIds" | "conditions" | "readyBy" | "useBoxes"
>;

/**
 * Converts a request to its scope. Without a mode for a kind of asset, all are in scope; without
 * a mode for evidence, all kinds of evidence are.
 */
export function toSearchScope(
  request: ScopeRequest,
  exceptAssetId: string | null = null,
): SearchScope {
  const { modes, assetIds, conditions, readyBy, useBoxes } = request;
  const requestedKinds = ASSET_KINDS.filter((kind) => modes.includes(kind));
  const kinds = requestedKinds.length > 0 ? requestedKinds : ASSET_KINDS;
  const requestedEvidence = EVIDENCE_MODES.filter((mode) => modes.includes(mode));
  const evidence = requestedEvidence.length > 0 ? requestedEvidence : EVIDENCE_MODES;
  return {
    assets: { kinds, assetIds, exceptAssetId, conditions, readyBy },
    columns: evidence.flatMap((mode) => COLUMNS_BY_MODE[mode]),
    textKinds: evidence.flatMap((mode) => TEXT_KINDS_BY_MODE[mode]),
    useImageVectors: evidence.includes("visual"),
    useBoxLabels: useBoxes && evidence.includes("visual"),
  };
}
