import type { Ability } from "./ability.ts";
import { EngineError } from "./errors.ts";
import { cutOut, encodeMask, GROUNDS, type Mask, type MaskMaker } from "./masks.ts";
import { type Box, MIN_OBJECT_SCORE, type ObjectDetector } from "./objects.ts";
import { readChoice, readInteger, readNumber } from "./parameters.ts";
import type { Picture } from "./picture.ts";
import type { Call, Routes } from "./routes.ts";

const FRACTIONS = { min: 0, max: 1 };
const PIXELS = { min: 1, max: 16_384 };
const BOX = ["x", "y", "width", "height"] as const;

/**
 * Every body is a picture. The foreground is what stands out in the box that `x`, `y`, `width` and
 * `height` give, as fractions of the upright picture; without them in the boxes of detected
 * objects, and where there are none in the whole picture.
 */
export function createMaskRoutes(
  objects: Ability<ObjectDetector>,
  masks: Ability<MaskMaker>,
  readPicture: (call: Call) => Promise<Picture>,
): Routes {
  async function readMask(call: Call): Promise<{ picture: Picture; mask: Mask }> {
    const box = readBox(call.query);
    const picture = await readPicture(call);
    const boxes = box ? [box] : await findBoxes(picture, call.signal);
    const mask = await masks.use((maker, signal) => maker.cut(picture, boxes, signal), call.signal);
    return { picture, mask };
  }
  async function findBoxes(picture: Picture, signal: AbortSignal): Promise<Box[]> {
    const found = await objects.use((model) => model.detect(picture, MIN_OBJECT_SCORE), signal);
    return found.map(({ box }) => box);
  }
  return {
    "POST /mask": async (call) => {
      const side = readInteger(call.query, "max", PIXELS, null);
      const { picture, mask } = await readMask(call);
      return { bytes: await encodeMask(mask, picture, side), contentType: "image/png" };
    },
    "POST /cutout": async (call) => {
      const ground = readChoice(call.query, "ground", GROUNDS);
      const { picture, mask } = await readMask(call);
      return { bytes: await cutOut(picture, mask, ground), contentType: "image/png" };
    },
  };
}

/** Null without one; what reaches beyond the picture is cut off. Errors: `bad_request`. */
function readBox(query: URLSearchParams): Box | null {
  const [x, y, width, height] = BOX.map((name) => readNumber(query, name, FRACTIONS, null));
  if (x === null && y === null && width === null && height === null) return null;
  if (x == null || y == null || !width || !height || x === 1 || y === 1) {
    throw new EngineError(
      "bad_request",
      'A box is "x", "y", "width" and "height", all four, and holds a part of the picture.',
    );
  }
  return [x, y, Math.min(1, x + width), Math.min(1, y + height)];
}
