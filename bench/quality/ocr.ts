import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Suite } from "../../tools/suite.ts";
import { readCaptionedPhotos } from "../../tools/training/captions.ts";
import { withEngine } from "../engine.ts";
import { drawPages } from "../pages.ts";
import { measureWordRecall, splitWords } from "../word-recall.ts";

const PAGES_PER_STYLE = 10;
const MAX_PHOTOS = 100;

interface OcrResult {
  lines: { text: string }[];
}

export const suite: Suite = {
  summary: "word recall and precision on generated pages, words found on <DIR>/photos",
  async run({ dataDir, log, signal }) {
    const photos = await readCaptionedPhotos(join(dataDir, "photos"));
    const captions = photos.flatMap((photo) => photo.captions);
    const files = photos.map(({ path }) => path);
    const pages = await drawPages(captions, files, PAGES_PER_STYLE);
    const { recognized, photoWordCount } = await withEngine(signal, async (request) => {
      const recognize = async (image: Buffer) => {
        const { lines } = await request<OcrResult>("/ocr", image);
        return lines.map(({ text }) => text).join("\n");
      };
      log(`${pages.length} pages …`);
      const recognized = [];
      for (const { kind, jpeg, text } of pages) {
        recognized.push({ kind, expected: text, recognized: await recognize(jpeg) });
      }
      log(`${MAX_PHOTOS} photos …`);
      let photoWordCount = 0;
      for (const file of files.slice(0, MAX_PHOTOS)) {
        photoWordCount += splitWords(await recognize(await readFile(file))).length;
      }
      return { recognized, photoWordCount };
    });
    const toRow = (kind: string, pagesOfKind: typeof recognized) => {
      const { recall, precision, wordCount } = measureWordRecall(pagesOfKind);
      return { kind, recall, precision, words: wordCount };
    };
    const kinds = [...Map.groupBy(recognized, ({ kind }) => kind)].map(([kind, pagesOfKind]) =>
      toRow(kind, pagesOfKind),
    );
    const all = toRow("all", recognized);
    const { recall, precision, words } = all;
    return {
      table: [...kinds, all],
      json: {
        pages: pages.length,
        recall,
        precision,
        words,
        kinds,
        photos: Math.min(MAX_PHOTOS, files.length),
        words_on_photos: photoWordCount,
      },
    };
  },
};
