import {
  observeCodecs,
  observeDecoder,
  observeFrames,
  observeImages,
} from "../media/observe-decoders.ts";
import { observeDescriptions } from "../models/describe.ts";
import { observeEmbeddingForms } from "../models/embedding-forms.ts";
import { observeDatabase, type ObservedVectorId, observeVectors } from "../store/observe-stores.ts";

/** Small files that the bindings are called with. */
export interface ObservedFiles {
  video?: Uint8Array<ArrayBuffer> | undefined;
  /** Videos of other codecs. */
  videos: Uint8Array<ArrayBuffer>[];
  /** The first one is a JPEG, which models describe and embed. */
  images: Uint8Array<ArrayBuffer>[];
  /** A vector of an earlier call that waits to be found: nothing else is observed then. */
  vector?: ObservedVectorId | undefined;
}

export type BindingObservations = Awaited<ReturnType<typeof observeBindings>>;

/**
 * Calls the bindings whose behaviour isn't documented or simulated, and returns what they answered.
 * Leaves nothing behind but a vector that waits to be found.
 */
export async function observeBindings(env: Env, { video, videos, images, vector }: ObservedFiles) {
  if (vector !== undefined) {
    const vectors = await observeVectors(env, vector);
    return {
      contactSheet: null,
      frame: null,
      decoder: null,
      codecs: [],
      images: [],
      descriptions: [],
      imageEmbeddings: [],
      vectors,
      database: [],
    };
  }
  const [first] = images;
  const [frames, decoder, codecs, decoded, descriptions, imageEmbeddings, vectors, database] =
    await Promise.all([
      video ? observeFrames(env, video) : { contactSheet: null, frame: null },
      video ? observeDecoder(env, video) : null,
      observeCodecs(env, videos),
      observeImages(env, images),
      first ? observeDescriptions(env.AI, first) : [],
      first ? observeEmbeddingForms(env.AI, first) : [],
      observeVectors(env, null),
      observeDatabase(env.DB),
    ]);
  return {
    ...frames,
    decoder,
    codecs,
    images: decoded,
    descriptions,
    imageEmbeddings,
    vectors,
    database,
  };
}
