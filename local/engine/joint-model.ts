import { readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { z } from "zod";
import { PICTURE_DIMENSIONS } from "./embeddings.ts";
import { chooseWeights, readModelType } from "./found-models.ts";
import { type Pixels, readPixels } from "./picture.ts";
import type { PictureSpace } from "./picture-space/space.ts";
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

/** What stands behind this many characters of a text does not change its vector. */
const MAX_CHARACTERS = 2_000;

/** CLIP (Radford et al., 2021) and SigLIP (Zhai et al., 2023), as exported for transformers.js. */
const FAMILIES = {
  clip: {
    Text: CLIPTextModelWithProjection,
    Vision: CLIPVisionModelWithProjection,
    textOutput: "text_embeds",
    pictureOutput: "image_embeds",
    padding: true,
  },
  siglip: {
    Text: SiglipTextModel,
    Vision: SiglipVisionModel,
    textOutput: "pooler_output",
    pictureOutput: "pooler_output",
    padding: "max_length",
  },
} as const;

/** Either the middle of the picture at this side, or the whole stretched to these. */
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

/** The space of a CLIP or SigLIP folder; its vectors are of one length whatever they are of. */
export async function loadJointModel(folder: string): Promise<PictureSpace> {
  try {
    return await loadSpace(folder);
  } catch (cause) {
    const message = `${basename(folder)} can't be loaded: its files are broken or don't fit together. Pull it again.`;
    throw new Error(message, { cause });
  }
}

async function loadSpace(folder: string): Promise<PictureSpace> {
  const { Text, Vision, textOutput, pictureOutput, padding } =
    FAMILIES[z.enum(["clip", "siglip"]).parse(readModelType(folder))];
  const options = loadOptions(chooseWeights(folder));
  const settings = await readFile(join(folder, "preprocessor_config.json"), "utf8");
  const { size } = Preprocessing.parse(JSON.parse(settings));
  const processor = await AutoImageProcessor.from_pretrained(folder, options);
  const tokenizer = await AutoTokenizer.from_pretrained(folder, options);
  const texts = await Text.from_pretrained(folder, options);
  const pictures = await Vision.from_pretrained(folder, options);

  const tokenize = (text: string) =>
    tokenizer(text.slice(0, MAX_CHARACTERS), { padding, truncation: true });
  const ofText = async (text: string) => toUnit((await texts(tokenize(text)))[textOutput]);
  const ofPixels = async ({ data, width, height }: Pixels) => {
    const inputs = await processor(new RawImage(data, width, height, 3));
    return toUnit((await pictures(inputs))[pictureOutput]);
  };

  const gray = Buffer.alloc(size.width * size.height * 3, 128);
  const [{ length: dimensions }, { length }] = [
    await ofText("warm up"),
    await ofPixels({ data: gray, width: size.width, height: size.height }),
  ];
  if (dimensions !== length || dimensions > PICTURE_DIMENSIONS) {
    throw new Error(`Texts have ${dimensions} dimensions, pictures ${length}.`);
  }
  return {
    dimensions,
    embedPicture: async (picture) =>
      ofPixels(await readPixels(picture, size.width, size.height, size.fit)),
    // One at a time: within a batch, quantized networks would let each text change the others.
    async embedTexts(list, signal) {
      const vectors: number[][] = [];
      for (const text of list) {
        signal.throwIfAborted();
        vectors.push(await ofText(text));
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
