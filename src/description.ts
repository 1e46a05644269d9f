import * as z from "zod";
import { cleanTitle } from "./asset-names.ts";
import { cleanText } from "./clean-text.ts";

/** Most that is stored of one description, which a model or an archive gives. */
export const MAX_DESCRIPTION = {
  characters: 20_000, // of the caption, and of the on-screen text
  items: 1000, // labels, and boxes
  totalCharacters: 60_000, // of both texts and all labels
} as const;

/** A name, which is cut to a line. */
export const line = z.string().max(10_000).transform(cleanTitle);
/** A label: a line that isn't empty. */
export const label = line.pipe(z.string().min(1));

const share = z.number().min(0).max(1);
/** Rounding error of a sum of two shares. */
const ROUNDING = 1e-6;

/** A box with an area, inside of the image. */
export const boundingBox = z
  .object({ label, score: share, x: share, y: share, width: share, height: share })
  .refine(
    ({ x, y, width, height }) =>
      Math.min(width, height) > 0 && Math.max(x + width, y + height) <= 1 + ROUNDING,
    { params: { type: "value_error" } },
  );

/** A caption, or the text on an image. */
export const descriptionText = z
  .string()
  .max(MAX_DESCRIPTION.characters)
  .transform((text) => cleanText(text));
