import { readFile } from "node:fs/promises";
import { join } from "node:path";
import sharp from "sharp";
import { INGEST, SEARCH } from "../../src/config.ts";
import { regionVector, smallObjects } from "../../src/ingest/steps/embed.ts";
import { encodeJpeg } from "../../src/media/pixels/jpeg.ts";
import { expandRect } from "../../src/media/pixels/rect.ts";
import { providePlatformClasses } from "../../tools/platform-classes.ts";
import { round, type Suite } from "../../tools/suite.ts";
import { type CaptionedPhoto, readCaptionedPhotos } from "../../tools/training/captions.ts";
import { type RequestEngine, withEngine } from "../engine.ts";

const PHOTOS = 300;
const COLLAGE_SIDE = 640;
/** Side of the pasted photo as a share of the ground's side: 9 % of its area. */
const PASTED_SIDE = 0.3;
const TEXTS_PER_REQUEST = 64;

/** Vectors of an image: of the whole image, then of its small objects. */
type ImageVectors = [whole: number[], ...objects: number[][]];

interface Detected {
  objects: { label: string; score: number; box: [number, number, number, number] }[];
}

async function embed(request: RequestEngine, input: object[]): Promise<number[][]> {
  const { data } = await request<{ data: { embedding: number[] }[] }>("/v1/embeddings", { input });
  return data.map(({ embedding }) => embedding);
}

/** Embeds an image and its small objects as ingest does. */
async function embedImage(request: RequestEngine, jpeg: Buffer): Promise<ImageVectors> {
  const { width, height } = await sharp(jpeg).metadata();
  const { objects } = await request<Detected>("/objects", jpeg);
  const boxes = objects.map(({ label, score, box: [x, y, right, bottom] }) => {
    return { label, score, x, y, width: right - x, height: bottom - y };
  });
  const regions = smallObjects(boxes).map((object) => {
    const area = expandRect(object, { width, height }, INGEST.regions.margin);
    return encodeCrop(sharp(jpeg).extract(area));
  });
  const jpegs = [jpeg, ...(await Promise.all(regions))];
  const vectors = await embed(
    request,
    jpegs.map((bytes) => ({ image: Buffer.from(bytes).toString("base64") })),
  );
  const [whole = [], ...objectVectors] = vectors;
  return [whole, ...objectVectors.map((vector) => unit(regionVector(vector, whole)))];
}

/** Encodes a crop with the encoder of ingest. */
async function encodeCrop(crop: ReturnType<typeof sharp>): Promise<Uint8Array> {
  const { data, info } = await crop.ensureAlpha().raw().toBuffer({ resolveWithObject: true });
  const { width, height } = info;
  return encodeJpeg({ width, height, data: new Uint8ClampedArray(data) });
}

/** Pastes `small` on `ground`; the position depends on `number` only. */
async function paste(ground: CaptionedPhoto, small: CaptionedPhoto, number: number) {
  const side = Math.round(COLLAGE_SIDE * PASTED_SIDE);
  const input = await sharp(small.path).resize(side, side, { fit: "fill" }).toBuffer();
  const random = (step: number) => ((number * step) % 1) * (COLLAGE_SIDE - side);
  const [left, top] = [random(0.618034), random(0.754878)].map(Math.floor);
  return sharp(ground.path)
    .resize(COLLAGE_SIDE, COLLAGE_SIDE, { fit: "fill" })
    .composite([{ input, left: left!, top: top! }])
    .jpeg({ quality: 90 })
    .toBuffer();
}

/** Percent of queries with their image among the first 1, 5 and 10. `not` excludes an image. */
function recall(
  queries: { text: number[]; of: number; not: number | null }[],
  all: ImageVectors[],
) {
  const ranks = queries.map(({ text, of, not }) => {
    const scores = all.map(([whole, ...objectVectors]) => {
      const cosines = objectVectors.map((vector) => dot(text, vector) - SEARCH.regionPenalty);
      return Math.max(dot(text, whole), ...cosines);
    });
    return scores.filter((score, i) => i !== not && score > scores[of]!).length;
  });
  const within = (limit: number) =>
    round((100 * ranks.filter((r) => r < limit).length) / ranks.length, 1);
  return `${within(1)} / ${within(5)} / ${within(10)}`;
}

const dot = (a: number[], b: number[]) => a.reduce((sum, value, i) => sum + value * b[i]!, 0);
const unit = (vector: number[]) => vector.map((value) => value / Math.sqrt(dot(vector, vector)));

export const suite: Suite = {
  summary: "recall of <DIR>/photos, original and pasted small, with and without object vectors",
  async run({ dataDir, log, signal }) {
    providePlatformClasses(); // the encoder is WebAssembly
    const all = await readCaptionedPhotos(join(dataDir, "photos"));
    const photos = Array.from(
      { length: PHOTOS },
      (_, i) => all[Math.floor((i * all.length) / PHOTOS)]!,
    );
    return withEngine(signal, async (request) => {
      const plain: ImageVectors[] = [];
      log(`${photos.length} photos …`);
      for (const { path } of photos) plain.push(await embedImage(request, await readFile(path)));
      log(`${photos.length / 2} collages …`);
      const collages: ImageVectors[] = [];
      const pasted: number[] = [];
      for (let i = 0; i < PHOTOS; i += 2) {
        const small = (i + PHOTOS / 3) % PHOTOS;
        collages.push(await embedImage(request, await paste(photos[i]!, photos[small]!, i)));
        pasted.push(small);
      }
      const captions = photos.flatMap((photo, of) => photo.captions.map((text) => ({ text, of })));
      const texts: number[][] = [];
      for (let i = 0; i < captions.length; i += TEXTS_PER_REQUEST) {
        const batch = captions.slice(i, i + TEXTS_PER_REQUEST).map(({ text }) => ({ text }));
        texts.push(...(await embed(request, batch)));
      }
      const queries = captions.map(({ of }, i) => ({ text: texts[i]!, of, not: null }));
      // Excludes the original photo, which would answer the query better than the collage.
      const pastedQueries = queries.flatMap(({ text, of }) => {
        const at = pasted.indexOf(of);
        return at === -1 ? [] : [{ text, of: PHOTOS + at, not: of }];
      });
      const wholeImagesOnly = (images: ImageVectors[]) =>
        images.map(([whole]): ImageVectors => [whole]);
      const both = [...plain, ...collages];
      const table = [
        {
          vectors: "whole images",
          photos: recall(queries, wholeImagesOnly(plain)),
          pasted: recall(pastedQueries, wholeImagesOnly(both)),
        },
        {
          vectors: "and small objects",
          photos: recall(queries, plain),
          pasted: recall(pastedQueries, both),
        },
      ];
      const objects = plain.reduce((sum, vectors) => sum + vectors.length - 1, 0);
      return { table, json: { table, photos: PHOTOS, objects, collages: collages.length } };
    });
  },
};
