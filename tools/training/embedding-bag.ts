import { wordShare } from "../../local/engine/joint-space/towers.ts";
import type { Random } from "../random-numbers.ts";
import { drawParameter, type TrainableParameter } from "./dense.ts";
import { createMatrix, type Matrix, rowOf } from "./matrix.ts";

/** Layer whose input is texts as lists of vocabulary rows (PyTorch's `EmbeddingBag`). */
export interface EmbeddingBag {
  readonly words: TrainableParameter;
  forward(texts: readonly (readonly number[])[]): Matrix;
  backward(change: Matrix): void;
}

/** Creates a layer that sums the vectors of a text's words, each weighted by `wordShare`. */
export function createEmbeddingBag(
  vocabulary: number,
  outputs: number,
  random: Random,
): EmbeddingBag {
  const words = drawParameter(vocabulary, outputs, 0.02, random);
  let last: readonly (readonly number[])[] = [];
  return {
    words,
    forward(texts) {
      last = texts;
      const output = createMatrix(texts.length, outputs);
      for (const [row, text] of texts.entries()) {
        for (const word of text) {
          addTo(rowOf(output, row), rowOf(words.value, word), wordShare(text.length));
        }
      }
      return output;
    },
    backward(change) {
      words.gradient.data.fill(0);
      for (const [row, text] of last.entries()) {
        for (const word of text) {
          addTo(rowOf(words.gradient, word), rowOf(change, row), wordShare(text.length));
        }
      }
    },
  };
}

function addTo(to: Float32Array, from: Float32Array, share: number): void {
  for (let at = 0; at < to.length; at++) to[at]! += share * from[at]!;
}
