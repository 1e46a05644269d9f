import { ASSET_KINDS } from "../types.ts";

/** Filters by kind of asset, and by kind of evidence (the others). */
export const MODES = [...ASSET_KINDS, "visual", "speech", "text"] as const;
export type Mode = (typeof MODES)[number];
