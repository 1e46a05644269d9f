import type { Network } from "./onnx.ts";
import sharp from "sharp";
import type { Pixels } from "./picture.ts";
import { type Region, toPlanes } from "./words-find.ts";

export interface ReadText {
  text: string;
  /** Mean probability of the characters. */
  score: number;
}

const HEIGHT = 48;
const MAX_WIDTH = 1_600;
const HALF = [0.5, 0.5, 0.5] as const;
/** A blank this probable between two characters is a space, though another class won there. */
const MIN_SPACE = 0.02;
/** So is a gap this many times the line's median advance. */
const WIDE_GAP = 1.6;

interface Character {
  text: string;
  /** The time step it was read at. */
  step: number;
  /** The greatest probability of a space since the character before. */
  space: number;
  score: number;
}

/** The words in one region of `pixels`, or null where the network reads none. */
export async function readRegion(
  reader: Network,
  characters: readonly string[],
  pixels: Pixels,
  region: Region,
): Promise<ReadText | null> {
  const [across, down] = [region.right - region.left, region.bottom - region.top];
  const width = Math.max(HEIGHT, Math.min(MAX_WIDTH, Math.round((across * HEIGHT) / down)));
  const crop = await sharp(pixels.data, { raw: { ...pixels, channels: 3 } })
    .extract({ left: region.left, top: region.top, width: across, height: down })
    .resize(width, HEIGHT, { fit: "fill" })
    .raw()
    .toBuffer();
  const { data, dims } = await reader.run(toPlanes(crop, HALF, HALF), HEIGHT, width);
  const read = decode(data, dims[2] ?? 1, characters);
  if (!read.length) return null;
  const score = read.reduce((sum, one) => sum + one.score, 0) / read.length;
  return { text: joinCharacters(read), score };
}

/**
 * Greedy connectionist temporal classification: the likeliest class of every step, repeats and
 * blanks dropped. Class 0 is the blank, the last one the space, between them the dictionary.
 */
function decode(steps: Float32Array, classes: number, dictionary: readonly string[]): Character[] {
  const read: Character[] = [];
  let [previous, space] = [0, 0];
  for (let step = 0; step * classes < steps.length; step++) {
    const row = steps.subarray(step * classes, (step + 1) * classes);
    let best = 0;
    for (let at = 1; at < classes; at++) if ((row[at] ?? 0) > (row[best] ?? 0)) best = at;
    space = Math.max(space, row[classes - 1] ?? 0);
    if (best !== 0 && best !== previous) {
      const text = best === classes - 1 ? " " : (dictionary[best - 1] ?? "");
      read.push({ text, step, space, score: row[best] ?? 0 });
      space = 0;
    }
    previous = best;
  }
  return read;
}

/** The text with the spaces that the network saw but did not choose. */
function joinCharacters(read: readonly Character[]): string {
  const gaps = read.slice(1).map((one, at) => one.step - (read[at]?.step ?? 0));
  const usual = gaps.toSorted((a, b) => a - b)[Math.floor(gaps.length / 2)] ?? 1;
  let text = "";
  for (const [at, one] of read.entries()) {
    const wide = at > 0 && (gaps[at - 1] ?? 0) > WIDE_GAP * usual + 1;
    const apart = at > 0 && (one.space > MIN_SPACE || wide);
    if (apart && /[\x20-\x7e]/.test(one.text)) text += " ";
    text += one.text;
  }
  return text.replaceAll(/\s+/g, " ").trim();
}
