import { z } from "zod";
import type { IndexId } from "../ids.ts";
import { type AssetScope, OPERATORS } from "../store/asset-scope.ts";
import { ASSET_TYPES, type AssetType, type TextKind } from "../types.ts";
import type { WordColumn } from "../store/words.ts";

/** Asset kinds, and which evidence counts. */
export const MODES = ["video", "image", "visual", "speech", "text"] as const;
export type Mode = (typeof MODES)[number];

const scalar = z.union([z.string(), z.number(), z.boolean(), z.null()]);

/** What to look for, and where: checked already; the schema is for a request that waited in a queue. */
export const searchRequest = z.object({
  /** Empty where something to be like is all there is. */
  query: z.string(),
  /** A segment or an asset to be like. */
  similarTo: z.string().nullable(),
  /** Empty means all. */
  assetIds: z.array(z.string()),
  conditions: z.array(
    z.object({
      field: z.string(),
      operator: z.enum(OPERATORS),
      operand: z.union([scalar, z.array(scalar)]),
    }),
  ),
  topK: z.int(),
  /** Segments with a score below are left out. */
  topP: z.number(),
  modes: z.array(z.enum(MODES)),
  useBoxes: z.boolean(),
  useMasks: z.boolean().default(false),
  /** Near-duplicates as one. */
  collapse: z.boolean().default(true),
  /** `asset`: of each asset the best segment only. */
  groupBy: z.enum(["segment", "asset"]),
  /** How many hits to pass over: those of the pages before. */
  offset: z.int(),
  /** Epoch ms: what became ready later is left to the next search, so that pages don't shift. */
  readyBy: z.int(),
});
export type SearchRequest = z.infer<typeof searchRequest>;

/** A search of everything, from the first hit on, but for what is wished otherwise. */
export function searchFor(wish: Partial<SearchRequest> & { topK: number }): SearchRequest {
  return {
    query: "",
    similarTo: null,
    assetIds: [],
    conditions: [],
    topP: 0,
    modes: [],
    useBoxes: false,
    useMasks: false,
    collapse: true,
    groupBy: "segment",
    offset: 0,
    readyBy: Date.now(),
    ...wish,
  };
}

const COLUMNS: Record<Exclude<Mode, AssetType>, WordColumn[]> = {
  visual: ["caption", "labels"],
  speech: ["transcript"],
  text: ["on_screen_text"],
};
const VECTORS: Record<Exclude<Mode, AssetType>, TextKind[]> = {
  visual: ["caption"],
  speech: ["speech"],
  text: ["text"],
};

export interface Scope {
  assets: AssetScope;
  columns: WordColumn[];
  vectors: TextKind[];
  /** Whether what the pictures look like counts. */
  looks: boolean;
  /** Whether the labels of boxes count. */
  boxes: boolean;
}

type Narrowing = Pick<SearchRequest, "modes" | "assetIds" | "conditions" | "readyBy" | "useBoxes">;

/** What a request leaves of assets and evidence; of the modes of each kind, none named means all. */
export function scopeOf(
  indexId: IndexId,
  request: Narrowing,
  exceptAssetId: string | null = null,
): Scope {
  const { modes, assetIds, conditions, readyBy, useBoxes } = request;
  const named = ASSET_TYPES.filter((type) => modes.includes(type));
  const types = named.length > 0 ? named : ASSET_TYPES;
  const kinds = (["visual", "speech", "text"] as const).filter((kind) => modes.includes(kind));
  const counted = kinds.length > 0 ? kinds : (["visual", "speech", "text"] as const);
  return {
    assets: { indexId, types, assetIds, exceptAssetId, conditions, readyBy },
    columns: counted.flatMap((kind) => COLUMNS[kind]),
    vectors: counted.flatMap((kind) => VECTORS[kind]),
    looks: counted.includes("visual"),
    boxes: useBoxes && counted.includes("visual"),
  };
}
