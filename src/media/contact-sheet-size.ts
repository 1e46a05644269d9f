import type { Size } from "./pixels/rect.ts";

/**
 * How FRAMES reads `width` and `height` of a contact sheet: as the size of each tile, or of the
 * whole sheet. The documentation doesn't say. In each case the frames keep their aspect ratio.
 */
export type ContactSheetSizing = "tile" | "sheet";

/** Longest side that FRAMES takes, in pixels. */
const MAX_SIDE = 2000;
/** Share of a requested side by which a result may exceed it, because it is rounded. */
const TOLERANCE = 0.5;

/**
 * Returns the size to request for a contact sheet, so that its tiles have a size. The grid isn't
 * known in advance: a whole sheet is as large as `count` tiles beside or below each other take.
 * Where that exceeds what FRAMES makes, its sides stay multiples of `count`, so that the tiles of
 * most grids begin at whole pixels: others would mix with their neighbours.
 */
export function toRequestedSize(sizing: ContactSheetSizing, tile: Size, count: number): Size {
  if (sizing === "tile") return tile;
  const maxSide = Math.floor(MAX_SIDE / count);
  return {
    width: count * Math.min(maxSide, tile.width),
    height: count * Math.min(maxSide, tile.height),
  };
}

/**
 * Infers how FRAMES read the requested size: a sheet of several tiles of that size exceeds it.
 * Returns null for a sheet of one tile.
 */
export function inferSizing(
  sheet: Size,
  requested: Size,
  count: number,
): ContactSheetSizing | null {
  if (count === 1) return null;
  const exceeds =
    sheet.width > requested.width * (1 + TOLERANCE) ||
    sheet.height > requested.height * (1 + TOLERANCE);
  return exceeds ? "tile" : "sheet";
}
