import type { Capability } from "./capability.ts";
import { EngineError } from "./errors.ts";
import type { ImageFile } from "./image.ts";
import { cutOut, encodeMask, BACKGROUNDS, type Mask, type MaskMaker } from "./masks.ts";
import { type Box, MIN_OBJECT_SCORE, type ObjectDetector } from "./objects.ts";
import { readChoice, readInteger, readNumber } from "./parameters.ts";
import type { Call, Routes } from "./route.ts";

const FRACTIONS = { min: 0, max: 1 };
const PIXELS = { min: 1, max: 16_384 };
const BOX = ["x", "y", "width", "height"] as const;

/**
 * Creates the routes of foreground masks. Every body is an image. `x`, `y`, `width` and `height`
 * give a box as fractions of the upright image. Without a box the detected objects are segmented,
 * and without objects the whole image.
 */
export function createMaskRoutes(
  objects: Capability<ObjectDetector>,
  masks: Capability<MaskMaker>,
  readImage: (call: Call) => Promise<ImageFile>,
): Routes {
  async function readMask(call: Call): Promise<{ image: ImageFile; mask: Mask }> {
    const box = readBox(call.query);
    const image = await readImage(call);
    const boxes = box ? [box] : await findBoxes(image, call.signal);
    const mask = await masks.use((maker, signal) => maker.cut(image, boxes, signal), call.signal);
    return { image, mask };
  }
  async function findBoxes(image: ImageFile, signal: AbortSignal): Promise<Box[]> {
    const found = await objects.use((model) => model.detect(image, MIN_OBJECT_SCORE), signal);
    return found.map(({ box }) => box);
  }
  return {
    "POST /mask": async (call) => {
      const side = readInteger(call.query, "max", PIXELS, null);
      const { image, mask } = await readMask(call);
      return { bytes: await encodeMask(mask, image, side), contentType: "image/png" };
    },
    "POST /cutout": async (call) => {
      const background = readChoice(call.query, "background", BACKGROUNDS);
      const { image, mask } = await readMask(call);
      return { bytes: await cutOut(image, mask, background), contentType: "image/png" };
    },
  };
}

/** Reads a box, clipped to the image; null without one. Errors: `bad_request`. */
function readBox(query: URLSearchParams): Box | null {
  const [x, y, width, height] = BOX.map((name) => readNumber(query, name, FRACTIONS, null));
  if (x === null && y === null && width === null && height === null) return null;
  if (x == null || y == null || !width || !height || x === 1 || y === 1) {
    throw new EngineError(
      "bad_request",
      'A box is "x", "y", "width" and "height", all four, and covers a part of the image.',
    );
  }
  return [x, y, Math.min(1, x + width), Math.min(1, y + height)];
}
