import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { readCaptionedPhotos } from "../../scripts/picture-space/captions.ts";
import { withEngine } from "../engine.ts";
import { drawPages } from "../pages.ts";
import type { Suite } from "../suite.ts";
import { measureWords, wordsOf } from "../word-recall.ts";

const PAGES_OF_A_KIND = 10;
const PHOTOS = 100;

interface Words {
  lines: { text: string }[];
}

export const suite: Suite = {
  summary: "words on drawn pages of six kinds, and on <DIR>/photos, which have hardly any",
  async run({ dataDir, log, signal }) {
    const photos = await readCaptionedPhotos(join(dataDir, "photos"));
    const captions = photos.flatMap((photo) => photo.captions);
    const files = photos.map(({ path }) => path);
    const pages = await drawPages(captions, files, PAGES_OF_A_KIND);
    const { read, onPhotos } = await withEngine(signal, async (ask) => {
      const words = async (picture: Buffer) =>
        (await ask<Words>("/words", picture)).lines.map(({ text }) => text).join("\n");
      log(`${pages.length} pages …`);
      const read = [];
      for (const page of pages) read.push({ ...page, read: await words(page.jpeg) });
      log(`${PHOTOS} photos …`);
      let onPhotos = 0;
      for (const file of files.slice(0, PHOTOS)) {
        onPhotos += wordsOf(await words(await readFile(file))).length;
      }
      return { read, onPhotos };
    });
    const kinds = Object.entries(Object.groupBy(read, ({ kind }) => kind)).map(([kind, some]) =>
      Object.assign({ kind }, measureWords(some ?? [])),
    );
    const all = { pages: pages.length, ...measureWords(read) };
    const { words, recall, precision } = all;
    return {
      table: [...kinds, { kind: "all", recall, precision, words }],
      json: { ...all, kinds, photos: Math.min(PHOTOS, files.length), words_on_photos: onPhotos },
    };
  },
};
