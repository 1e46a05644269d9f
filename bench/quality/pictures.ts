import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { readCaptionedPhotos } from "../../scripts/picture-space/captions.ts";
import { type AskEngine, withEngine } from "../engine.ts";
import { measureRetrieval } from "../retrieval.ts";
import type { Suite } from "../suite.ts";

const TEXTS_AT_ONCE = 64;
const PICTURES_AT_ONCE = 8;

interface Embeddings {
  data: { embedding: number[] }[];
}

/** Vectors of the inputs that `read` makes of `items`, asked for `size` at a time. */
async function embedAll<Item>(
  ask: AskEngine,
  items: readonly Item[],
  size: number,
  read: (item: Item) => Promise<unknown>,
): Promise<number[][]> {
  const vectors: number[][] = [];
  for (let start = 0; start < items.length; start += size) {
    const input = await Promise.all(items.slice(start, start + size).map(read));
    const { data } = await ask<Embeddings>("/v1/embeddings", { input });
    vectors.push(...data.map(({ embedding }) => embedding));
  }
  return vectors;
}

export const suite: Suite = {
  summary: "captions → <DIR>/photos and back, in the engine's own picture-text space",
  async run({ dataDir, log, signal }) {
    const photos = await readCaptionedPhotos(join(dataDir, "photos"));
    const captions = photos.flatMap((photo) => photo.captions);
    const json = await withEngine(signal, async (ask) => {
      log(`${photos.length} pictures …`);
      const pictures = await embedAll(ask, photos, PICTURES_AT_ONCE, async ({ path }) => ({
        image: await readFile(path, "base64"),
      }));
      log(`${captions.length} captions …`);
      const texts = await embedAll(ask, captions, TEXTS_AT_ONCE, async (text) => ({ text }));
      const photoOf = photos.flatMap((photo, at) => photo.captions.map(() => at));
      return measureRetrieval(pictures, texts, photoOf);
    });
    const { text_to_picture, picture_to_text } = json;
    const table = Object.entries({ text_to_picture, picture_to_text }).map(([way, recall]) =>
      Object.assign({ way }, recall),
    );
    return { table, json: { ...json } };
  },
};
