import { AppError } from "../errors.ts";
import { decodeImage } from "../media/pixels/decode-image.ts";
import { imageOfBytes } from "../media/pixels/image-file.ts";
import { describeImage } from "../models/describe.ts";
import { embedInImageSpace, hasImageEmbeddings } from "../models/embed-image.ts";
import { embedText } from "../models/embed-text.ts";
import type { IndexRef } from "../types.ts";
import { tryChannel } from "./channels.ts";
import { findImageCopies } from "./copy-detection.ts";
import { meanDirection } from "./example.ts";
import type { CopyMatch, ExampleQuery } from "./query.ts";

/**
 * Makes an example of an uploaded image: its copies, and its image embedding or, without image
 * embeddings, the text embedding of its caption. Throws `unreadable_image`.
 */
export async function exampleFromImage(
  env: Env,
  index: IndexRef,
  bytes: Uint8Array,
): Promise<ExampleQuery> {
  const { jpeg } = await decodeImage(env, imageOfBytes(bytes));
  const hasImages = hasImageEmbeddings(env);
  const [imageVector, textVector, copies] = await Promise.all([
    hasImages ? tryChannel("image_vectors", () => embedImages(env, [jpeg])) : null,
    hasImages ? null : tryChannel("text_vectors", () => embedCaption(env, jpeg)),
    findImageCopies(env, index, jpeg),
  ]);
  return toExample(imageVector, textVector, copies);
}

/** Combines the vectors of an uploaded file, or the failures to embed it, with its copies. */
export function toExample(
  imageVector: number[] | AppError | null,
  textVector: number[] | AppError | null,
  copies: CopyMatch[],
): ExampleQuery {
  const outage = [imageVector, textVector].find((vector) => vector instanceof AppError) ?? null;
  return {
    imageVector: imageVector instanceof AppError ? null : imageVector,
    textVector: textVector instanceof AppError ? null : textVector,
    copies,
    outage,
    exclude: { segmentId: null, assetId: null },
  };
}

/** Returns the mean direction of the embeddings of JPEGs. */
export async function embedImages(env: Env, jpegs: Uint8Array[]): Promise<number[]> {
  const images = jpegs.map((image) => ({ image }));
  return meanDirection((await embedInImageSpace(env, images)).vectors);
}

/** Returns null if the model finds nothing to say of the image. */
export async function embedCaption(env: Env, jpeg: Uint8Array): Promise<number[] | null> {
  const { caption, labels } = await describeImage(env.AI, jpeg);
  const text = `${caption} ${labels.join(", ")}`.trim();
  return text === "" ? null : (await embedText(env.AI, [text]))[0]!;
}
