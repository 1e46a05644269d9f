import { SEARCH } from "../config.ts";
import { remember } from "../isolate-memory.ts";
import { LruCache } from "../lru-cache.ts";
import { embedInImageSpace } from "../models/embed-image.ts";
import { embedText } from "../models/embed-text.ts";

/** Queries repeat: while someone types, and on every page. */
const textEmbeddings = remember(new LruCache<number[] | null>(SEARCH.cachedQueryCount));
const imageEmbeddings = remember(new LruCache<number[] | null>(SEARCH.cachedQueryCount));

/** Embeds a query; null if the model knows none of its words. */
export function embedQueryText(env: Env, query: string): Promise<number[] | null> {
  const key = `${env.TEXT_EMBEDDINGS_MODEL} ${query}`;
  return textEmbeddings.get(key, () => {
    return embedIfKnown(query, (texts) => embedText(env.AI, texts));
  });
}

/** Embeds a query as images are; null if the model knows none of its words. */
export function embedQueryForImages(env: Env, query: string): Promise<number[] | null> {
  const space = `${env.IMAGE_EMBEDDINGS_URL} ${env.IMAGE_EMBEDDINGS_MODEL}`;
  const embedAll = async (texts: string[]) => {
    const inputs = texts.map((text) => ({ text }));
    return (await embedInImageSpace(env, inputs)).vectors;
  };
  return imageEmbeddings.get(`${space} ${query}`, () => embedIfKnown(query, embedAll));
}

/** A character of private use, which no vocabulary has. */
const UNKNOWN_WORD = "\uE000";
/** Cosine from which two vectors are one. */
const SAME = 0.9999;

/**
 * Embeds a query; null if the model knows none of its words. Its vector is then that of unknown
 * words, which says nothing about it. Every model knows Latin letters and digits.
 */
async function embedIfKnown(
  query: string,
  embed: (texts: string[]) => Promise<number[][]>,
): Promise<number[] | null> {
  if (/[a-z0-9]/i.test(query)) return (await embed([query]))[0]!;
  const unknown = query.replaceAll(/[\p{L}\p{M}\p{N}]+/gu, UNKNOWN_WORD);
  const [vector, unknownVector] = await embed([query, unknown]);
  return areEqualVectors(vector!, unknownVector!) ? null : vector!;
}

/** Tests whether two vectors have one direction, but for rounding. */
export function areEqualVectors(a: readonly number[], b: readonly number[]): boolean {
  const dot = a.reduce((sum, value, i) => sum + value * b[i]!, 0);
  return dot / (Math.hypot(...a) * Math.hypot(...b)) >= SAME;
}
