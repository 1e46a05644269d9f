import { MODELS } from "../config.ts";
import { hasPictureSpace } from "../models/embed-picture.ts";
import fitted from "./calibrations.json" with { type: "json" };
import type { Calibration, Fitted } from "./fuse.ts";
import type { Question } from "./channels.ts";

export const CALIBRATIONS: readonly Fitted[] = fitted;

/** What words tell counts for so much beside a picture: the very same one comes before what only they tell of. */
const BESIDE = 0.5;

/**
 * How a question's signals become probabilities: as fitted for the models in use, or, where nobody has,
 * as for the first that somebody has.
 */
export function calibrationFor(env: Env, { query, like }: Question): Calibration {
  const picture = hasPictureSpace(env) ? env.PICTURE_EMBEDDINGS_MODEL : null;
  const own = CALIBRATIONS.find(({ models }) => {
    return models.text === MODELS.embedText.id && models.picture === picture;
  });
  const { tells, looks, likeness } = own ?? CALIBRATIONS[0]!;
  if (!like) return looks ? [...tells, looks] : tells;
  if (!query.plain && like.meaning === null) return [likeness];
  // "This, but at night": both are meant, so that they add up.
  const words = tells.flatMap(({ weights }) => Object.entries(weights));
  const less = words.map(([signal, one]) => [signal, { ...one, weight: one.weight * BESIDE }]);
  const weights = { ...Object.fromEntries(less), ...likeness.weights };
  return [{ bias: likeness.bias, weights }];
}
