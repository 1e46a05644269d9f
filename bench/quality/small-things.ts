import { readFile } from "node:fs/promises";
import { join } from "node:path";
import sharp from "sharp";
import { type CaptionedPhoto, readCaptionedPhotos } from "../../scripts/picture-space/captions.ts";
import { INGEST, SEARCH } from "../../src/config.ts";
import { placeBetween, smallThings } from "../../src/ingest/small-things.ts";
import { withMargin } from "../../src/media/areas.ts";
import { type AskEngine, withEngine } from "../engine.ts";
import { round, type Suite } from "../suite.ts";

const PHOTOS = 300;
const GROUND_SIDE = 640;
/** Of the ground's side: 9 % of its area. */
const PASTED_SIDE = 0.3;
const TEXTS_AT_ONCE = 64;

/** A picture's vectors: of all of it, and of the small things in it. */
type Places = [whole: number[], ...things: number[][]];

interface Detected {
  objects: { label: string; score: number; box: [number, number, number, number] }[];
}

async function embed(ask: AskEngine, input: object[]): Promise<number[][]> {
  const { data } = await ask<{ data: { embedding: number[] }[] }>("/v1/embeddings", { input });
  return data.map(({ embedding }) => embedding);
}

/** As ingest does it. */
async function look(ask: AskEngine, jpeg: Buffer): Promise<Places> {
  const { width, height } = await sharp(jpeg).metadata();
  const { objects } = await ask<Detected>("/objects", jpeg);
  const boxes = objects.map(({ label, score, box: [x, y, right, bottom] }) => {
    return { label, score, x, y, width: right - x, height: bottom - y };
  });
  const regions = smallThings(boxes).map((thing) => {
    const area = withMargin(thing, { width, height }, INGEST.regions.margin);
    return sharp(jpeg).extract(area).jpeg().toBuffer();
  });
  const jpegs = [jpeg, ...(await Promise.all(regions))];
  const vectors = await embed(
    ask,
    jpegs.map((bytes) => ({ image: bytes.toString("base64") })),
  );
  const [whole = [], ...things] = vectors;
  return [whole, ...things.map((thing) => unit(placeBetween(thing, whole)))];
}

/** `small` somewhere on `ground`; where depends on `number` only. */
async function paste(ground: CaptionedPhoto, small: CaptionedPhoto, number: number) {
  const side = Math.round(GROUND_SIDE * PASTED_SIDE);
  const input = await sharp(small.path).resize(side, side, { fit: "fill" }).toBuffer();
  const random = (step: number) => ((number * step) % 1) * (GROUND_SIDE - side);
  const [left, top] = [random(0.618034), random(0.754878)].map(Math.floor);
  return sharp(ground.path)
    .resize(GROUND_SIDE, GROUND_SIDE, { fit: "fill" })
    .composite([{ input, left: left!, top: top! }])
    .jpeg({ quality: 90 })
    .toBuffer();
}

/** Percent of queries with their picture among the first 1, 5 and 10. */
function recall(queries: { text: number[]; of: number; not: number | null }[], all: Places[]) {
  const ranks = queries.map(({ text, of, not }) => {
    const scores = all.map(([whole, ...things]) => {
      const cosines = things.map((thing) => dot(text, thing) - SEARCH.regionHandicap);
      return Math.max(dot(text, whole), ...cosines);
    });
    return scores.filter((score, i) => i !== not && score > scores[of]!).length;
  });
  const within = (most: number) =>
    round((100 * ranks.filter((r) => r < most).length) / ranks.length, 1);
  return `${within(1)} / ${within(5)} / ${within(10)}`;
}

const dot = (a: number[], b: number[]) => a.reduce((sum, value, i) => sum + value * b[i]!, 0);
const unit = (vector: number[]) => vector.map((value) => value / Math.sqrt(dot(vector, vector)));

export const suite: Suite = {
  summary:
    "captions → <DIR>/photos, as they are and pasted small into others, with small things and without",
  async run({ dataDir, log, signal }) {
    const all = await readCaptionedPhotos(join(dataDir, "photos"));
    const photos = Array.from(
      { length: PHOTOS },
      (_, i) => all[Math.floor((i * all.length) / PHOTOS)]!,
    );
    return withEngine(signal, async (ask) => {
      const plain: Places[] = [];
      log(`${photos.length} pictures …`);
      for (const { path } of photos) plain.push(await look(ask, await readFile(path)));
      log(`${photos.length / 2} collages …`);
      const collages: Places[] = [];
      const pasted: number[] = [];
      for (let i = 0; i < PHOTOS; i += 2) {
        const small = (i + PHOTOS / 3) % PHOTOS;
        collages.push(await look(ask, await paste(photos[i]!, photos[small]!, i)));
        pasted.push(small);
      }
      const captions = photos.flatMap((photo, of) => photo.captions.map((text) => ({ text, of })));
      const texts: number[][] = [];
      for (let i = 0; i < captions.length; i += TEXTS_AT_ONCE) {
        const few = captions.slice(i, i + TEXTS_AT_ONCE).map(({ text }) => ({ text }));
        texts.push(...(await embed(ask, few)));
      }
      const queries = captions.map(({ of }, i) => ({ text: texts[i]!, of, not: null }));
      // The photo itself, as large as it is, is no answer to the question where it is small.
      const ofPasted = queries.flatMap(({ text, of }) => {
        const at = pasted.indexOf(of);
        return at === -1 ? [] : [{ text, of: PHOTOS + at, not: of }];
      });
      const wholes = (some: Places[]) => some.map(([whole]): Places => [whole]);
      const both = [...plain, ...collages];
      const table = [
        {
          vectors: "pictures",
          photos: recall(queries, wholes(plain)),
          pasted: recall(ofPasted, wholes(both)),
        },
        {
          vectors: "and small things",
          photos: recall(queries, plain),
          pasted: recall(ofPasted, both),
        },
      ];
      const things = plain.reduce((sum, places) => sum + places.length - 1, 0);
      return { table, json: { table, photos: PHOTOS, things, collages: collages.length } };
    });
  },
};
