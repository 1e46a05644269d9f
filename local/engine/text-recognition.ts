import sharp from "sharp";
import type { Pixels } from "./image.ts";
import type { Network } from "./onnx.ts";
import { type TextRegion, toPlanes } from "./text-detection.ts";

export interface RecognizedText {
  text: string;
  /** Mean probability of the characters. */
  score: number;
}

const HEIGHT = 48;
const MAX_WIDTH = 1_600;
const HALF = [0.5, 0.5, 0.5] as const;
/** Probability from which a space is inserted although another class won. */
const MIN_SPACE = 0.02;
/** Factor of the line's median advance from which a gap is a space. */
const WIDE_GAP = 1.6;

interface Character {
  text: string;
  /** Time step of the character. */
  step: number;
  /** Maximum probability of a space since the previous character. */
  space: number;
  score: number;
}

/** Recognises the text in a region of `pixels`; null if there is none. */
export async function recognizeText(
  recognizer: Network,
  characters: readonly string[],
  pixels: Pixels,
  region: TextRegion,
): Promise<RecognizedText | null> {
  const [regionWidth, regionHeight] = [region.right - region.left, region.bottom - region.top];
  const width = Math.max(
    HEIGHT,
    Math.min(MAX_WIDTH, Math.round((regionWidth * HEIGHT) / regionHeight)),
  );
  const crop = await sharp(pixels.data, { raw: { ...pixels, channels: 3 } })
    .extract({ left: region.left, top: region.top, width: regionWidth, height: regionHeight })
    .resize(width, HEIGHT, { fit: "fill" })
    .raw()
    .toBuffer();
  const { data, dims } = await recognizer.run(toPlanes(crop, HALF, HALF), HEIGHT, width);
  const recognized = decode(data, dims[2] ?? 1, characters);
  if (!recognized.length) return null;
  const score = recognized.reduce((sum, character) => sum + character.score, 0) / recognized.length;
  return { text: concatCharacters(recognized), score };
}

/**
 * Decodes connectionist temporal classification greedily: the best class of each step, without
 * repeats and blanks. Class 0 is the blank, the last class the space, the others the dictionary.
 */
function decode(steps: Float32Array, classes: number, dictionary: readonly string[]): Character[] {
  const recognized: Character[] = [];
  let [previous, space] = [0, 0];
  for (let step = 0; step * classes < steps.length; step++) {
    const row = steps.subarray(step * classes, (step + 1) * classes);
    let best = 0;
    for (let at = 1; at < classes; at++) if ((row[at] ?? 0) > (row[best] ?? 0)) best = at;
    space = Math.max(space, row[classes - 1] ?? 0);
    if (best !== 0 && best !== previous) {
      const text = best === classes - 1 ? " " : (dictionary[best - 1] ?? "");
      recognized.push({ text, step, space, score: row[best] ?? 0 });
      space = 0;
    }
    previous = best;
  }
  return recognized;
}

/** Concatenates characters and inserts spaces that greedy decoding missed. */
function concatCharacters(recognized: readonly Character[]): string {
  const gaps = recognized
    .slice(1)
    .map((character, at) => character.step - (recognized[at]?.step ?? 0));
  const medianGap = gaps.toSorted((a, b) => a - b)[Math.floor(gaps.length / 2)] ?? 1;
  let text = "";
  for (const [at, character] of recognized.entries()) {
    const isWideGap = at > 0 && (gaps[at - 1] ?? 0) > WIDE_GAP * medianGap + 1;
    const isSeparate = at > 0 && (character.space > MIN_SPACE || isWideGap);
    if (isSeparate && /[\x20-\x7e]/.test(character.text)) text += " ";
    text += character.text;
  }
  return text.replaceAll(/\s+/g, " ").trim();
}
