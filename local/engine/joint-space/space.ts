import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { ImageFile } from "../image.ts";
import { SENTENCE_MODEL, type SentenceEncoder } from "../sentences.ts";
import { createJointEmbedder } from "./embedder.ts";
import { IMAGE_ENCODER, type ImageEncoder } from "./features.ts";
import { readWeights } from "./weights.ts";

/** Weights written by `npm run train`; see docs/models.md. */
export const JOINT_SPACE_FILE =
  process.env["JOINT_SPACE_FILE"] ?? join(import.meta.dirname, "weights.bin");
export const JOINT_SPACE_MODEL = "sightline-joint-space-1";

/** Embeds images and English texts as unit vectors of one space; cosines rank their match. */
export interface JointSpace {
  dimensions: number;
  /** Errors: `undecodable_image`. */
  embedImage(image: ImageFile): Promise<number[]>;
  embedTexts(texts: readonly string[], signal: AbortSignal): Promise<number[][]>;
  countTokens(texts: readonly string[]): number;
}

export async function loadJointSpace(
  images: Promise<ImageEncoder>,
  sentences: Promise<SentenceEncoder>,
): Promise<JointSpace> {
  const weights = readWeights(await readFile(JOINT_SPACE_FILE));
  const { dimensions, model, imageEncoder, sentenceModel } = weights.about;
  if (
    model !== JOINT_SPACE_MODEL ||
    imageEncoder !== IMAGE_ENCODER ||
    sentenceModel !== SENTENCE_MODEL
  ) {
    throw new Error("The joint space was trained on other features. Run: npm run train");
  }
  const [reader, encoder] = await Promise.all([images, sentences]);
  const embedder = createJointEmbedder(weights);
  return {
    dimensions,
    countTokens: (texts) => encoder.countTokens(texts),
    embedImage: async (image) => embedder.embedImage(await reader.read(image)),
    async embedTexts(texts, signal) {
      const vectors = await encoder.embed(texts, signal);
      return texts.map((text, at) =>
        embedder.embedText(text, Float32Array.from(vectors[at] ?? [])),
      );
    },
  };
}
