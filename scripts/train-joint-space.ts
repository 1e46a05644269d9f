import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { createJointEmbedder } from "../local/engine/joint-space/embedder.ts";
import { loadImageEncoder, IMAGE_ENCODER } from "../local/engine/joint-space/features.ts";
import { JOINT_SPACE_MODEL, JOINT_SPACE_FILE } from "../local/engine/joint-space/space.ts";
import { readWeights, writeWeights } from "../local/engine/joint-space/weights.ts";
import { loadSentences, SENTENCE_MODEL } from "../local/engine/sentences.ts";
import { createRandom } from "../tools/random-numbers.ts";
import { measureRetrieval, type Retrieval } from "../tools/retrieval.ts";
import { PROJECT } from "../tools/stack/local-state.ts";
import { rowOf } from "../tools/training/matrix.ts";
import { type TrainingRecipe, trainTowers } from "../tools/training/member.ts";
import { loadPhotoSet, type PhotoSet } from "../tools/training/photo-set.ts";
import { shuffle } from "../tools/training/random.ts";
import { prepareTrainingData } from "../tools/training/training-data.ts";

const USAGE = `Usage: npm run train -- [options]

Trains the offline engine's joint embedding space of images and text on <DIR>/photos-train (photos
and captions.json) and measures it on <DIR>/photos, if present. Features are cached in
~/.cache/sightline, so an interrupted run resumes.

  --data DIR      folder with photos-train (default ../shared/data)
  --photos N      train on the first N photos only
  --seed N        seed of random numbers (default 1)
  --hold-out N    train without N photos and measure on these, to compare recipes
  --out FILE      target of the weights (default: the engine's own file; none with --hold-out)
  --epochs N      training epochs (default 40)
  --members N     pairs of towers whose cosines are averaged (default 4)
  --help          print this help
`;

const RECIPE: TrainingRecipe = {
  hidden: 512,
  dimensions: 128,
  epochs: 40,
  batch: 512,
  rate: 2e-3,
  decay: 0.05,
  drop: { features: 0.3, hidden: 0.4, sentence: 0.1, words: 0.3 },
};

const log = (line: string) => console.error(line);

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      data: { type: "string", default: join(PROJECT, "../shared/data") },
      photos: { type: "string", default: "1000000" },
      seed: { type: "string", default: "1" },
      "hold-out": { type: "string", default: "0" },
      out: { type: "string" },
      epochs: { type: "string", default: String(RECIPE.epochs) },
      members: { type: "string", default: "4" },
      help: { type: "boolean", short: "h" },
    },
  });
  if (values.help) {
    console.log(USAGE);
    return;
  }
  const limit = readCount("photos", values.photos);
  const seed = readCount("seed", values.seed, 0);
  const heldOutCount = readCount("hold-out", values["hold-out"], 0);
  const epochs = readCount("epochs", values.epochs);
  const members = readCount("members", values.members);
  const data = resolve(values.data);
  const encoders = { images: await loadImageEncoder(), sentences: await loadSentences() };
  const load = (name: string, maxPhotos: number) =>
    loadPhotoSet(join(data, name), encoders, { limit: maxPhotos, log });

  const set = await load("photos-train", limit);
  if (heldOutCount >= set.images.rows) throw new Error("--hold-out leaves no photo to train on.");
  const order = shuffle(set.images.rows, createRandom(seed));
  const file = train(set, order.slice(heldOutCount), { ...RECIPE, epochs }, seed, members);
  const out = values.out ?? (heldOutCount ? null : JOINT_SPACE_FILE);
  if (out) {
    await writeFile(out, file);
    log(`${out}: ${(file.length / 1e6).toFixed(1)} MB`);
  }
  if (heldOutCount) {
    printRetrieval("held-out photos", measure(file, set, order.slice(0, heldOutCount)));
    return;
  }
  if (!existsSync(join(data, "photos"))) return;
  const other = await load("photos", Infinity);
  printRetrieval(
    "photos",
    measure(
      file,
      other,
      Array.from({ length: other.images.rows }, (_, photo) => photo),
    ),
  );
}

/** Trains on the rows `photos` of the set and returns the weights file. */
function train(
  set: PhotoSet,
  photos: readonly number[],
  recipe: TrainingRecipe,
  seed: number,
  members: number,
): Buffer {
  const trainingData = prepareTrainingData(set, photos);
  const { images, words, vocabulary } = trainingData;
  log(`Training on ${images.rows} photos, ${words.length} captions, ${vocabulary.length} words.`);
  const about = {
    model: JOINT_SPACE_MODEL,
    dimensions: members * recipe.dimensions,
    imageEncoder: IMAGE_ENCODER,
    sentenceModel: SENTENCE_MODEL,
    training: { photos: images.rows, captions: words.length, epochs: recipe.epochs, seed },
    vocabulary,
  };
  const trained = Array.from({ length: members }, (_, member) =>
    trainTowers(trainingData, recipe, seed + member, (epoch, loss) => {
      if ((epoch + 1) % 5 === 0) {
        log(`towers ${member + 1} of ${members}, epoch ${epoch + 1}: loss ${loss.toFixed(3)}`);
      }
    }),
  );
  return writeWeights({ about, members: trained });
}

/** Measures retrieval with the weights file, as the engine uses it. */
function measure(file: Buffer, set: PhotoSet, photos: readonly number[]): Retrieval {
  const embedder = createJointEmbedder(readWeights(file));
  const position = new Map(photos.map((photo, at) => [photo, at]));
  const captions = [...set.captions.keys()].filter((at) => position.has(set.photoOf[at] ?? -1));
  return measureRetrieval(
    photos.map((photo) => embedder.embedImage(rowOf(set.images, photo))),
    captions.map((at) => embedder.embedText(set.captions[at] ?? "", rowOf(set.sentences, at))),
    captions.map((at) => position.get(set.photoOf[at] ?? -1) ?? -1),
  );
}

function printRetrieval(name: string, { text_to_image, image_to_text, images }: Retrieval): void {
  log(`${name}, ${images} images:`);
  console.table({ text_to_image, image_to_text });
}

function readCount(name: string, text: string, min = 1): number {
  if (/^\d+$/.test(text) && Number(text) >= min) return Number(text);
  throw new Error(`--${name} is a whole number from ${min}.`);
}

try {
  await main();
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}
