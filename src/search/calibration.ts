import { MODELS } from "../config.ts";
import fitted from "./calibrations.json" with { type: "json" };
import type { Calibration } from "./fuse.ts";
import type { Likeness } from "./likeness.ts";

/** What was fitted (`npm run calibrate`) for which models. */
interface Fitted {
  /** Ids; of the picture space what `PICTURE_EMBEDDINGS_MODEL` says, empty for the engine's own. */
  models: { text: string; picture: string };
  /** For questions in words. */
  words: Calibration;
  /** For pictures and clips as questions, and for what is to be like something. */
  likeness: Calibration;
}

export const CALIBRATIONS: readonly Fitted[] = fitted;

/**
 * How a question's signals become probabilities: as fitted for the models in use, or, where nobody has,
 * as for the first that somebody has.
 */
export function calibrationFor(
  { PICTURE_EMBEDDINGS_MODEL }: Pick<Env, "PICTURE_EMBEDDINGS_MODEL">,
  like: Likeness | null,
): Calibration {
  const own = CALIBRATIONS.find(({ models }) => {
    return models.text === MODELS.embedText.id && models.picture === PICTURE_EMBEDDINGS_MODEL;
  });
  const { words, likeness } = own ?? CALIBRATIONS[0]!;
  return like ? likeness : words;
}
