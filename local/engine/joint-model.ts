import { readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { setImmediate } from "node:timers/promises";
import * as z from "zod";
import { IMAGE_DIMENSIONS } from "./embeddings.ts";
import { type Pixels, readPixels } from "./image.ts";
import { chooseWeights, readModelType } from "./installed-models.ts";
import type { JointSpace } from "./joint-space/space.ts";
import {
  AutoImageProcessor,
  AutoTokenizer,
  CLIPTextModelWithProjection,
  CLIPVisionModelWithProjection,
  loadOptions,
  RawImage,
  SiglipTextModel,
  SiglipVisionModel,
  Tensor,
} from "./transformers.ts";

/** Characters of a text that are embedded; the rest is cut off. */
const MAX_CHARACTERS = 2_000;

/** CLIP (Radford et al., 2021) and SigLIP (Zhai et al., 2023), as exported for transformers.js. */
const FAMILIES = {
  clip: {
    Text: CLIPTextModelWithProjection,
    Vision: CLIPVisionModelWithProjection,
    textOutput: "text_embeds",
    imageOutput: "image_embeds",
    padding: true,
  },
  siglip: {
    Text: SiglipTextModel,
    Vision: SiglipVisionModel,
    textOutput: "pooler_output",
    imageOutput: "pooler_output",
    padding: "max_length",
  },
} as const;

/** A shortest edge crops the centre square; a width and height stretch the whole image. */
const Preprocessing = z.object({
  size: z.union([
    z.object({ shortest_edge: z.int() }).transform(({ shortest_edge: side }) => ({
      width: side,
      height: side,
      fit: "cover" as const,
    })),
    z
      .object({ width: z.int(), height: z.int() })
      .transform((size) => ({ ...size, fit: "fill" as const })),
  ]),
});

/** Loads a CLIP or SigLIP folder. Image and text vectors have the same dimensions. */
export async function loadJointModel(folder: string): Promise<JointSpace> {
  try {
    return await loadSpace(folder);
  } catch (cause) {
    const message =
      `${basename(folder)} can't be loaded: ` +
      "its files are broken or don't fit together. Pull it again.";
    throw new Error(message, { cause });
  }
}

async function loadSpace(folder: string): Promise<JointSpace> {
  const { Text, Vision, textOutput, imageOutput, padding } =
    FAMILIES[z.enum(["clip", "siglip"]).parse(readModelType(folder))];
  const options = loadOptions(chooseWeights(folder));
  const settings = await readFile(join(folder, "preprocessor_config.json"), "utf8");
  const { size } = Preprocessing.parse(JSON.parse(settings));
  const processor = await AutoImageProcessor.from_pretrained(folder, options);
  const tokenizer = await AutoTokenizer.from_pretrained(folder, options);
  const textModel = await Text.from_pretrained(folder, options);
  const visionModel = await Vision.from_pretrained(folder, options);

  const tokenize = (text: string) =>
    tokenizer(text.slice(0, MAX_CHARACTERS), { padding, truncation: true });
  const embedText = async (text: string) => toUnit((await textModel(tokenize(text)))[textOutput]);
  const embedPixels = async ({ data, width, height }: Pixels) => {
    const inputs = await processor(new RawImage(data, width, height, 3));
    return toUnit((await visionModel(inputs))[imageOutput]);
  };

  const gray = Buffer.alloc(size.width * size.height * 3, 128);
  const [{ length: dimensions }, { length }] = [
    await embedText("warm up"),
    await embedPixels({ data: gray, width: size.width, height: size.height }),
  ];
  if (dimensions !== length || dimensions > IMAGE_DIMENSIONS) {
    throw new Error(`Texts have ${dimensions} dimensions, images ${length}.`);
  }
  return {
    dimensions,
    embedImage: async (image) =>
      embedPixels(await readPixels(image, size.width, size.height, size.fit)),
    // One text at a time: in quantized networks the texts of a batch change each other's vectors.
    async embedTexts(list, signal) {
      const vectors: number[][] = [];
      for (const text of list) {
        signal.throwIfAborted();
        vectors.push(await embedText(text));
        await setImmediate();
      }
      return vectors;
    },
    countTokens: (list) =>
      list.reduce((sum, text) => sum + Number(tokenize(text).input_ids.dims.at(-1)), 0),
  };
}

function toUnit(output: unknown): number[] {
  const numbers = output instanceof Tensor ? Array.from(output.data, Number) : [];
  const length = Math.hypot(...numbers);
  if (!(length > 0 && Number.isFinite(length))) throw new Error("The network gave no vector.");
  return numbers.map((value) => value / length);
}
