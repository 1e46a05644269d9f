import { observeFrames, observeImages } from "../media/observe-decoders.ts";
import { observeDescriptions } from "../models/describe.ts";
import { observeDatabase, observeVectors } from "../store/observe-stores.ts";

/** Small files that the bindings are called with. */
export interface ObservedFiles {
  video?: Uint8Array<ArrayBuffer> | undefined;
  /** The first one is a JPEG, which a model describes. */
  images: Uint8Array<ArrayBuffer>[];
}

export type BindingObservations = Awaited<ReturnType<typeof observeBindings>>;

/**
 * Calls the bindings whose behaviour isn't documented or simulated, and returns what they answered.
 * Leaves nothing behind.
 */
export async function observeBindings(env: Env, { video, images }: ObservedFiles) {
  const [first] = images;
  const [frames, decoded, descriptions, vectors, database] = await Promise.all([
    video ? observeFrames(env, video) : { contactSheet: null, frame: null },
    observeImages(env.IMAGES, images),
    first ? observeDescriptions(env.AI, first) : [],
    observeVectors(env),
    observeDatabase(env.DB),
  ]);
  return { ...frames, images: decoded, descriptions, vectors, database };
}
