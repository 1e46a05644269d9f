import { z } from "zod";
import { ASSET_KINDS, type AssetKind } from "../types.ts";
import { type Mode, MODES } from "./modes.ts";

/** One of several things that a search asks for: words, or a stored example. */
export const subqueryRequest = z.object({
  /** Empty if there is an example. */
  query: z.string(),
  /** Id of the segment or asset that is the example; null without. */
  similarTo: z.string().nullable(),
  modes: z.array(z.enum(MODES)),
});
export type Subquery = z.infer<typeof subqueryRequest>;

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
