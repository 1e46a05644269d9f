import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { measureRetrieval } from "../../tools/retrieval.ts";
import type { Suite } from "../../tools/suite.ts";
import { readCaptionedPhotos } from "../../tools/training/captions.ts";
import { type RequestEngine, withEngine } from "../engine.ts";

const TEXTS_PER_REQUEST = 64;
const IMAGES_PER_REQUEST = 8;

interface Embeddings {
  data: { embedding: number[] }[];
}

/** Embeds the inputs that `read` makes of `items`, `size` per request. */
async function embedAll<Item>(
  request: RequestEngine,
  items: readonly Item[],
  size: number,
  read: (item: Item) => Promise<unknown>,
): Promise<number[][]> {
  const vectors: number[][] = [];
  for (let start = 0; start < items.length; start += size) {
    const input = await Promise.all(items.slice(start, start + size).map(read));
    const { data } = await request<Embeddings>("/v1/embeddings", { input });
    vectors.push(...data.map(({ embedding }) => embedding));
  }
  return vectors;
}

export const suite: Suite = {
  summary: "recall of captions and <DIR>/photos, both directions, in the engine's joint space",
  async run({ dataDir, log, signal }) {
    const photos = await readCaptionedPhotos(join(dataDir, "photos"));
    const captions = photos.flatMap((photo) => photo.captions);
    const json = await withEngine(signal, async (request) => {
      log(`${photos.length} images …`);
      const images = await embedAll(request, photos, IMAGES_PER_REQUEST, async ({ path }) => ({
        image: await readFile(path, "base64"),
      }));
      log(`${captions.length} captions …`);
      const texts = await embedAll(request, captions, TEXTS_PER_REQUEST, async (text) => ({
        text,
      }));
      const photoOf = photos.flatMap((photo, at) => photo.captions.map(() => at));
      return measureRetrieval(images, texts, photoOf);
    });
    const { text_to_image, image_to_text } = json;
    const table = Object.entries({ text_to_image, image_to_text }).map(([direction, recall]) =>
      Object.assign({ direction }, recall),
    );
    return { table, json: { ...json } };
  },
};
