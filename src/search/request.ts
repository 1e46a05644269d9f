import type { AssetType, TextKind } from "../types.ts";
import type { WordColumn } from "../store/words.ts";

/** What to look for, and where. */
export interface SearchRequest {
  query: string;
  /** Empty means all. */
  assetIds: string[];
  topK: number;
  /** Segments with a score below are left out. */
  topP: number;
  modes: Mode[];
  useBoxes: boolean;
  /** How many hits to pass over: those of the pages before. */
  offset: number;
}

/** Asset kinds, and which evidence counts. */
export const MODES = ["video", "image", "visual", "speech", "text"] as const;
export type Mode = (typeof MODES)[number];

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
  types: AssetType[];
  columns: WordColumn[];
  vectors: TextKind[];
  /** Whether what the pictures look like counts. */
  looks: boolean;
}

/** What the modes leave of the kinds of assets and of evidence; of each, none named means all. */
export function scopeOf(modes: readonly Mode[]): Scope {
  const types = (["video", "image"] as const).filter((type) => modes.includes(type));
  const kinds = (["visual", "speech", "text"] as const).filter((kind) => modes.includes(kind));
  const counted = kinds.length > 0 ? kinds : (["visual", "speech", "text"] as const);
  return {
    types: types.length > 0 ? types : ["video", "image"],
    columns: counted.flatMap((kind) => COLUMNS[kind]),
    vectors: counted.flatMap((kind) => VECTORS[kind]),
    looks: counted.includes("visual"),
  };
}
