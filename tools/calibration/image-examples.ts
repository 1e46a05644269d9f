import { readFile } from "node:fs/promises";
import { basename } from "node:path";
import sharp, { type Sharp } from "sharp";
import type { SightlineIndex } from "sightline";
import type { Random } from "../random-numbers.ts";
import type { CaptionedPhoto } from "../training/captions.ts";
import { judgeHits } from "./collect-examples.ts";
import type { Corpus, JudgedQuery } from "./judgments.ts";
import { createJudge } from "./questions.ts";

const DEPTH = 100;

/** Common edits of copied images. */
const EDITS: ((image: Sharp, width: number, height: number) => Sharp)[] = [
  (image, width, height) => {
    const size = { width: Math.round(width * 0.8), height: Math.round(height * 0.8) };
    return image.extract({ left: Math.round(width * 0.1), top: 0, ...size });
  },
  (image) => image.flop(),
  (image) => image.jpeg({ quality: 30 }),
  (image) => image.greyscale(),
  (image, width) => image.resize(Math.round(width * 0.6)),
  (image, _, height) => {
    const bar = Math.round(height * 0.15);
    return image.extend({ top: bar, bottom: bar, background: "black" });
  },
];

/**
 * Searches by image. Every third query is an edited image of the corpus, the others aren't in it.
 * Relevant: the original, and what the judge accepts for any caption of the photo.
 */
export async function collectImageExamples(
  index: SightlineIndex,
  corpus: Corpus,
  photos: readonly CaptionedPhoto[],
  count: number,
  random: Random,
): Promise<JudgedQuery[]> {
  const judge = createJudge(corpus.truths);
  const files = new Set(corpus.files.map(({ path }) => path));
  const corpusPhotos = photos.filter(({ path }) => files.has(path));
  const others = photos.filter(({ captions }) => corpus.absentCaptions.includes(captions[0]!));
  const judged: JudgedQuery[] = [];
  for (let i = 0; i < count; i++) {
    const isInCorpus = i % 3 === 0;
    const candidates = isInCorpus ? corpusPhotos : others;
    const photo = candidates[Math.floor(random() * candidates.length)]!;
    const image = await readFile(photo.path);
    const { width, height } = await sharp(image).metadata();
    const edit = EDITS[(i / 3) % EDITS.length];
    const queryImage = isInCorpus && edit ? edit(sharp(image), width, height) : sharp(image);
    const image_file = new Blob([Uint8Array.from(await queryImage.jpeg().toBuffer())]);
    const request = { image_file, top_k: DEPTH, collapse: false };
    const { segments } = await index.searchByImage(request);
    const judgments = photo.captions.map((caption) => {
      return judge({
        text: caption,
        caption: isInCorpus ? caption : "",
        form: "sentence",
        isPresent: isInCorpus,
      });
    });
    const relevant = judgments.flatMap((one) => one.relevant);
    const unknown = judgments.flatMap((one) => one.unknown);
    const original = { file: basename(photo.path), at: null, captions: photo.captions };
    const all = isInCorpus ? [original, ...relevant] : relevant;
    judged.push(judgeHits(segments, { relevant: all, unknown }));
  }
  return judged;
}
