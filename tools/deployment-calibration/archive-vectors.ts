import { IMAGE_EMBEDDINGS, MODELS, PRICES } from "../../src/config.ts";
import {
  embedInImageSpace,
  hasImageEmbeddings,
  type ImageEmbeddingsEnv,
} from "../../src/models/embed-image.ts";
import { embedText } from "../../src/models/embed-text.ts";
import { estimateInputTokens } from "../../src/models/token-usage.ts";
import type { GeneratedArchive } from "../calibration/generated-archive.ts";
import type { MemoryVectors } from "../memory-search/memory-index.ts";

/** Vectors of everything in an archive, and of its queries. */
export interface ArchiveVectors extends MemoryVectors {
  /** Vectors of the image queries, in order. */
  imageQueries: number[][];
}

interface ArchiveInputs {
  /** What the text model embeds: texts of segments, and queries. */
  texts: string[];
  /** What the image model embeds: queries, and JPEGs of segments and of queries. */
  queries: string[];
  images: Uint8Array[];
}

function inputsOf({ segments, images, textQueries, imageQueries }: GeneratedArchive) {
  const queries = [...new Set(textQueries.map(({ text }) => text))];
  const told = segments.flatMap((one) => [one.caption, one.transcript, one.onScreenText]);
  const texts = [...new Set([...told.filter((text) => text !== ""), ...queries])];
  const all = [...images.values(), ...imageQueries.map(({ image }) => image)];
  return { texts, queries, images: all } satisfies ArchiveInputs;
}

/**
 * Embeds an archive by the models of a deployment. Calls `onProgress` with the number of embedded
 * inputs. Throws the errors of `embedText` and `embedInImageSpace`.
 */
export async function embedArchive(
  env: ImageEmbeddingsEnv,
  archive: GeneratedArchive,
  onProgress: (done: number, total: number) => void,
): Promise<ArchiveVectors> {
  const { texts, queries, images } = inputsOf(archive);
  const withImages = hasImageEmbeddings(env);
  const imageInputs = withImages
    ? [...queries.map((text) => ({ text })), ...images.map((image) => ({ image }))]
    : [];
  const total = texts.length + imageInputs.length;
  let done = 0;
  const inBatches = async <T>(
    items: T[],
    size: number,
    call: (batch: T[]) => Promise<number[][]>,
  ) => {
    const vectors: number[][] = [];
    for (let at = 0; at < items.length; at += size) {
      vectors.push(...(await call(items.slice(at, at + size))));
      onProgress((done += Math.min(size, items.length - at)), total);
    }
    return vectors;
  };
  const textVectors = await inBatches(texts, MODELS.embedText.batchSize, (batch) =>
    embedText(env.AI, batch),
  );
  const imageVectors = await inBatches(imageInputs, IMAGE_EMBEDDINGS.batchSize, async (batch) => {
    return (await embedInImageSpace(env, batch)).vectors;
  });
  const ofImages = imageVectors.slice(queries.length);
  const byText = (keys: readonly string[], vectors: number[][]) =>
    new Map(keys.map((key, at) => [key, vectors[at]!]));
  return {
    texts: byText(texts, textVectors),
    textsForImages: withImages ? byText(queries, imageVectors) : null,
    images: withImages ? byText([...archive.images.keys()], ofImages) : new Map(),
    imageQueries: ofImages.slice(archive.images.size),
  };
}

/** Tokens of an image at most: config.ts has no price of an image model, so the dearest counts. */
const TOKENS_PER_IMAGE = 2000;

/** What an archive's vectors cost, in US dollars at most, and how many inputs they take. */
export interface EmbeddingCost {
  texts: number;
  textTokens: number;
  images: number;
  usd: number;
}

/** Estimates the cost by the prices of src/config.ts. A server of one's own is no cost here. */
export function estimateCost(env: ImageEmbeddingsEnv, archive: GeneratedArchive): EmbeddingCost {
  const { texts, queries, images } = inputsOf(archive);
  const textTokens = estimateInputTokens({ text: texts });
  const isBilled = hasImageEmbeddings(env) && env.IMAGE_EMBEDDINGS_URL === "";
  const imageTokens = isBilled
    ? estimateInputTokens({ text: queries }) + images.length * TOKENS_PER_IMAGE
    : 0;
  const neurons = textTokens * MODELS.embedText.neurons[0] + imageTokens * MODELS.detect.neurons[0];
  return {
    texts: texts.length,
    textTokens,
    images: hasImageEmbeddings(env) ? images.length : 0,
    usd: (neurons / 1_000_000) * PRICES.neurons,
  };
}
