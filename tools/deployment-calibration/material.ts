import { IMAGE_EMBEDDINGS, MODELS, PRICES } from "../../src/config.ts";
import {
  type EmbeddingInput,
  embedInImageSpace,
  hasImageEmbeddings,
  type ImageEmbeddingsEnv,
  embedText,
} from "../../src/models/embed.ts";
import { estimateTokens } from "../../src/models/run.ts";
import { type DrawnScene, drawScenes } from "../calibration/drawn-scenes.ts";
import { generateArchive, type GeneratedArchive } from "../calibration/generated-archive.ts";
import { createRandom } from "../random-numbers.ts";

/** What the models of a deployment are calibrated on. */
export interface Material {
  archive: GeneratedArchive;
  /** None without image embeddings. */
  drawings: DrawnScene[];
}

const SEED = 1;
const SCENES = 660;
const QUERIES = 800;
const DRAWINGS = 120;

/** Generates the material, which is always the same. */
export async function generateMaterial(withImages: boolean): Promise<Material> {
  const archive = generateArchive(SCENES, QUERIES, SEED);
  const drawings = withImages ? await drawScenes(DRAWINGS, createRandom(SEED)) : [];
  return { archive, drawings };
}

/** Vectors of the material. */
export interface MaterialVectors {
  texts: ReadonlyMap<string, number[]>;
  drawings: DrawingVectors;
}

/** Vectors of drawings, of other drawings of the same scenes, and of a caption of each. */
export interface DrawingVectors {
  images: number[][];
  otherImages: number[][];
  captions: number[][];
}

/**
 * Embeds the material by the models of a deployment. Calls `onProgress` with the number of embedded
 * inputs. Throws the errors of `embedText` and `embedInImageSpace`.
 */
export async function embedMaterial(
  env: ImageEmbeddingsEnv,
  material: Material,
  onProgress: (done: number, total: number) => void,
): Promise<MaterialVectors> {
  const [texts, inputs] = [listTexts(material), listImageInputs(material)];
  const total = texts.length + inputs.length;
  const embedBatches = async <T>(
    items: readonly T[],
    { size, before }: { size: number; before: number },
    embed: (batch: T[]) => Promise<number[][]>,
  ) => {
    const vectors: number[][] = [];
    for (let at = 0; at < items.length; at += size) {
      vectors.push(...(await embed(items.slice(at, at + size))));
      onProgress(before + vectors.length, total);
    }
    return vectors;
  };
  const ofTexts = await embedBatches(
    texts,
    { size: MODELS.embedText.batchSize, before: 0 },
    (batch) => embedText(env.AI, batch),
  );
  const ofImages = await embedBatches(
    inputs,
    { size: IMAGE_EMBEDDINGS.batchSize, before: texts.length },
    async (batch) => (await embedInImageSpace(env, batch)).vectors,
  );
  const count = material.drawings.length;
  return {
    texts: new Map(texts.map((text, at) => [text, ofTexts[at]!])),
    drawings: {
      images: ofImages.slice(0, count),
      otherImages: ofImages.slice(count, 2 * count),
      captions: ofImages.slice(2 * count),
    },
  };
}

function listTexts({ archive: { segments, queries } }: Material): string[] {
  const told = segments.flatMap((one) => [one.caption, one.transcript, one.onScreenText]);
  const asked = queries.map(({ text }) => text);
  return [...new Set([...told.filter((text) => text !== ""), ...asked])];
}

/** Lists drawings, other drawings and captions, in this order: a batch has inputs of one kind. */
function listImageInputs({ drawings }: Material): EmbeddingInput[] {
  return [
    ...drawings.map(({ image }) => ({ image })),
    ...drawings.map(({ otherImage }) => ({ image: otherImage })),
    ...drawings.map(({ captions }) => ({ text: captions[0]! })),
  ];
}

/** Tokens of an image at most. */
const TOKENS_PER_IMAGE = 2000;

/** What the vectors of the material cost, in US dollars at most. */
export interface EmbeddingCost {
  textCount: number;
  textTokens: number;
  drawingCount: number;
  usd: number;
}

/**
 * Estimates the cost by the prices of src/config.ts. It has none of an image model, so that of the
 * dearest model's input counts. A server of one's own isn't counted.
 */
export function estimateCost(env: ImageEmbeddingsEnv, material: Material): EmbeddingCost {
  const texts = listTexts(material);
  const textTokens = Math.ceil(estimateTokens(texts));
  const drawingCount = 2 * material.drawings.length;
  const isBilled = hasImageEmbeddings(env) && env.IMAGE_EMBEDDINGS_URL === "";
  const imageTokens = isBilled ? drawingCount * TOKENS_PER_IMAGE : 0;
  const [perTextToken, perImageToken] = [MODELS.embedText.neurons[0], MODELS.detect.neurons[0]];
  const neurons = (textTokens * perTextToken + imageTokens * perImageToken) / 1_000_000;
  return { textCount: texts.length, textTokens, drawingCount, usd: neurons * PRICES.neurons };
}
