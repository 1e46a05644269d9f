import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Picture } from "../picture.ts";
import { SENTENCE_MODEL, type SentenceEncoder } from "../sentences.ts";
import { loadPictureReader, PICTURE_READER } from "./features.ts";
import { createPlaces } from "./places.ts";
import { readWeights } from "./weights.ts";

/** Made by `npm run train`; see docs/models.md. */
export const PICTURE_SPACE_FILE =
  process.env["PICTURE_SPACE_FILE"] ?? join(import.meta.dirname, "weights.bin");
export const PICTURE_MODEL = "sightline-picture-space-1";

/** Pictures and English texts in one space of unit vectors: the closer, the better they fit. */
export interface PictureSpace {
  dimensions: number;
  /** Errors: `undecodable_image`. */
  embedPicture(picture: Picture): Promise<number[]>;
  embedTexts(texts: readonly string[], signal: AbortSignal): Promise<number[][]>;
  countTokens(texts: readonly string[]): number;
}

export async function loadPictureSpace(sentences: Promise<SentenceEncoder>): Promise<PictureSpace> {
  const weights = readWeights(await readFile(PICTURE_SPACE_FILE));
  const { dimensions, model, pictureReader, sentenceModel } = weights.about;
  if (
    model !== PICTURE_MODEL ||
    pictureReader !== PICTURE_READER ||
    sentenceModel !== SENTENCE_MODEL
  ) {
    throw new Error("The picture space was trained on other features. Run: npm run train");
  }
  const [reader, encoder] = await Promise.all([loadPictureReader(), sentences]);
  const places = createPlaces(weights);
  return {
    dimensions,
    countTokens: (texts) => encoder.countTokens(texts),
    embedPicture: async (picture) => places.ofPicture(await reader.read(picture)),
    async embedTexts(texts, signal) {
      const vectors = await encoder.embed(texts, signal);
      return texts.map((text, at) => places.ofText(text, Float32Array.from(vectors[at] ?? [])));
    },
  };
}
