import { traceOf } from "../errors.ts";
import { log } from "../log.ts";
import { embedInPictureSpace, hasPictureSpace } from "../models/embed-picture.ts";

/** The picture space as it is at present: its model's name and a vector of it, or why neither is known. */
export type PictureSpace = { model: string; values: number[] } | "none" | "silent";

/** Asks the picture space who it is, which only an answer tells. Never throws. */
export async function askPictureSpace(env: Env): Promise<PictureSpace> {
  if (!hasPictureSpace(env)) return "none";
  try {
    const { model, vectors } = await embedInPictureSpace(env, [{ text: "a picture" }]);
    return { model, values: vectors[0]! };
  } catch (error) {
    log("warn", "care.silent_picture_space", { cause: traceOf(error) });
    return "silent";
  }
}
