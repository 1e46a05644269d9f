import { wordShare } from "../../local/engine/picture-space/towers.ts";
import { drawParameter, type Parameter } from "./dense.ts";
import { createMatrix, type Matrix, rowOf } from "./matrix.ts";
import type { Random } from "./random.ts";

/** As a layer, but what goes in are the words of each text as rows of the vocabulary. */
export interface Bag {
  readonly words: Parameter;
  forward(texts: readonly (readonly number[])[]): Matrix;
  backward(change: Matrix): void;
}

/** The sum of the vectors of a text's words by their `wordShare`. */
export function createBag(vocabulary: number, outputs: number, random: Random): Bag {
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
