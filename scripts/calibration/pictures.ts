import { readFile } from "node:fs/promises";
import { basename } from "node:path";
import sharp, { type Sharp } from "sharp";
import type { Api, HitRecord } from "../demo/api-client.ts";
import type { CaptionedPhoto } from "../picture-space/captions.ts";
import type { Random } from "../picture-space/random.ts";
import type { Corpus } from "./corpus.ts";
import { type Observed, toObserved } from "./observe.ts";
import { createJudge } from "./questions.ts";

const DEPTH = 100;

/** What becomes of pictures on their way through the world. */
const EDITS: ((picture: Sharp, width: number, height: number) => Sharp)[] = [
  (picture, width, height) => {
    const kept = { width: Math.round(width * 0.8), height: Math.round(height * 0.8) };
    return picture.extract({ left: Math.round(width * 0.1), top: 0, ...kept });
  },
  (picture) => picture.flop(),
  (picture) => picture.jpeg({ quality: 30 }),
  (picture) => picture.greyscale(),
  (picture, width) => picture.resize(Math.round(width * 0.6)),
  (picture, _, height) => {
    const bar = Math.round(height * 0.15);
    return picture.extend({ top: bar, bottom: bar, background: "black" });
  },
];

/**
 * Asks with pictures, one in three an edited image of the corpus, the others not in it. Right is the
 * very same, and what answers any of the captions that people wrote of the picture.
 */
export async function observePictures(
  api: Api,
  indexName: string,
  corpus: Corpus,
  photos: readonly CaptionedPhoto[],
  count: number,
  random: Random,
): Promise<Observed[]> {
  const judge = createJudge(corpus.truths);
  const files = new Set(corpus.files.map(({ path }) => path));
  const known = photos.filter(({ path }) => files.has(path));
  const others = photos.filter(({ captions }) => corpus.absent.includes(captions[0]!));
  const observed: Observed[] = [];
  for (let i = 0; i < count; i++) {
    const isKnown = i % 3 === 0;
    const from = isKnown ? known : others;
    const photo = from[Math.floor(random() * from.length)]!;
    const picture = await readFile(photo.path);
    const { width, height } = await sharp(picture).metadata();
    const edit = EDITS[(i / 3) % EDITS.length];
    const asked = isKnown && edit ? edit(sharp(picture), width, height) : sharp(picture);
    const form = new FormData();
    form.set("image_file", new Blob([Uint8Array.from(await asked.jpeg().toBuffer())]));
    const { body, headers } = new Response(form);
    const { segments } = await api.upload<{ segments: HitRecord[] }>(
      `/index/${indexName}/search_image?top_k=${DEPTH}&collapse=false`,
      { body: body!, contentType: headers.get("content-type")! },
    );
    const right = photo.captions.flatMap((caption) => {
      return judge({
        text: caption,
        caption: isKnown ? caption : "",
        form: "sentence",
        isPresent: isKnown,
      });
    });
    const own = { file: basename(photo.path), at: null, captions: photo.captions };
    observed.push(toObserved(segments, isKnown ? [own, ...right] : right));
  }
  return observed;
}
