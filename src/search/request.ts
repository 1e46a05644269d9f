import * as z from "zod";
import { SEARCH } from "../config.ts";
import { SEQUENCES } from "../parameters.ts";
import { type AssetScope, OPERATORS } from "../store/index-database/asset-scope.ts";
import type { FtsColumn } from "../store/index-database/fulltext.ts";
import { ASSET_KINDS, type AssetKind, type TextKind } from "../types.ts";

/** Filters by kind of asset, and by kind of evidence (the others). */
export const MODES = [...ASSET_KINDS, "visual", "speech", "text", "title"] as const;
export type Mode = (typeof MODES)[number];

/** One of several things that a search asks for: words, or a stored example. */
const subqueryRequest = z.object({
  /** Empty if there is an example. */
  query: z.string(),
  /** Id of the segment or asset that is the example; null without. */
  similarTo: z.string().nullable(),
  modes: z.array(z.enum(MODES)),
});
export type Subquery = z.infer<typeof subqueryRequest>;

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

/** Counts the things that a request searches each index for: its query, conditions or steps. */
export function countSubqueries(
  request: Pick<SearchRequest, "query" | "similarTo" | "logic" | "sequence">,
): number {
  const { query, similarTo, logic, sequence } = request;
  const own = query !== "" || similarTo !== null ? 1 : 0;
  const conditions = (logic?.all.length ?? 0) + (logic?.none.length ?? 0);
  return Math.max(1, sequence.length, own + conditions);
}

/**
 * A validated search request; the schema parses the requests of queued searches. Its defaults are
 * those of a search of a whole index for its first page.
 */
export const searchRequest = z.object({
  /** Empty if there is only an example. */
  query: z.string().default(""),
  /** Id of the segment or asset that is the example. */
  similarTo: z.string().nullable().default(null),
  /** Ids of segments that the user wants more of, and of others that aren't it. */
  moreLike: z.array(z.string()).default([]),
  lessLike: z.array(z.string()).default([]),
  /** Ids of segments that the user has passed over. */
  skipped: z.array(z.string()).default([]),
  /** Assets to search; empty for all. */
  assetIds: z.array(z.string()).default([]),
  conditions: z
    .array(
      z.object({
        field: z.string(),
        operator: z.enum(OPERATORS),
        operand: z.union([scalar, z.array(scalar)]),
      }),
    )
    .default([]),
  topK: z.int().default(SEARCH.defaultTopK),
  /** Minimum score of a hit, 0–1. */
  topP: z.number().default(0),
  modes: z.array(z.enum(MODES)).default([]),
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
  useBoxes: z.boolean().default(false),
  useMasks: z.boolean().default(false),
  /** Whether words that no segment has are corrected. */
  correct: z.boolean().default(false),
  /** Whether near-duplicates become one hit. */
  collapse: z.boolean().default(true),
  /** `asset` returns only the best segment of each asset. */
  groupBy: z.enum(["segment", "asset"]).default("segment"),
  /** What the hits of all pages are counted by, such as `metadata.camera`. */
  facetNames: z.array(z.string()).default([]),
  /** Number of hits on earlier pages. */
  offset: z.int().default(0),
  /** The end of the page before; null for the first page. */
  after: rankPosition.nullable().default(null),
  /** Epoch ms. Assets that became ready later are left out, so that pages don't shift. */
  readyBy: z.int().default(() => Date.now()),
  /** Fingerprint of the request as it was sent, which the cursor of its next page carries. */
  cursorTag: z.string().default(""),
});
export type SearchRequest = z.infer<typeof searchRequest>;

/** Makes a request for the first page of a whole index, with `overrides`. */
export function makeSearchRequest(overrides: Partial<SearchRequest> = {}): SearchRequest {
  return searchRequest.parse(overrides);
}

/** Makes the request of a search for one of several things alone. */
export function toSubrequest(request: SearchRequest, subquery: Subquery): SearchRequest {
  const { query, similarTo } = subquery;
  const modes = subqueryModes(subquery.modes, request.modes);
  return { ...request, query, similarTo, modes, moreLike: [], lessLike: [], skipped: [] };
}

type EvidenceMode = Exclude<Mode, AssetKind>;
const EVIDENCE_MODES: readonly EvidenceMode[] = ["visual", "speech", "text", "title"];

const EVIDENCE_OF_MODE: Record<EvidenceMode, { columns: FtsColumn[]; textKinds: TextKind[] }> = {
  visual: { columns: ["caption", "labels"], textKinds: ["caption"] },
  speech: { columns: ["transcript"], textKinds: ["speech"] },
  text: { columns: ["on_screen_text"], textKinds: ["text"] },
  title: { columns: [], textKinds: [] },
};

/** The assets and the kinds of evidence that a search covers. */
export interface SearchScope {
  assets: AssetScope;
  columns: FtsColumn[];
  textKinds: TextKind[];
  useImageVectors: boolean;
  /** Whether terms are matched in the names of assets: title, folder, description, keywords. */
  useNames: boolean;
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
    columns: evidence.flatMap((mode) => EVIDENCE_OF_MODE[mode].columns),
    textKinds: evidence.flatMap((mode) => EVIDENCE_OF_MODE[mode].textKinds),
    useImageVectors: evidence.includes("visual"),
    useNames: evidence.includes("title"),
    useBoxLabels: useBoxes && evidence.includes("visual"),
  };
}

const isAssetKind = (mode: Mode) => ASSET_KINDS.includes(mode as AssetKind);

/**
 * Returns the modes of a subquery: its own kinds of assets, or else those of the search; so with
 * kinds of evidence.
 */
export function subqueryModes(own: readonly Mode[], shared: readonly Mode[]): Mode[] {
  return [true, false].flatMap((isKind) => {
    const named = own.filter((mode) => isAssetKind(mode) === isKind);
    return named.length > 0 ? named : shared.filter((mode) => isAssetKind(mode) === isKind);
  });
}
