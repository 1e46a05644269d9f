import { writeFile } from "node:fs/promises";
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { measureRetrieval, type Retrieval } from "../bench/retrieval.ts";
import { loadPictureReader, PICTURE_READER } from "../local/engine/picture-space/features.ts";
import { createPlaces } from "../local/engine/picture-space/places.ts";
import { PICTURE_MODEL, PICTURE_SPACE_FILE } from "../local/engine/picture-space/space.ts";
import { readWeights, writeWeights } from "../local/engine/picture-space/weights.ts";
import { loadSentences, SENTENCE_MODEL } from "../local/engine/sentences.ts";
import { prepareLessons } from "./picture-space/lessons.ts";
import { rowOf } from "./picture-space/matrix.ts";
import { type Recipe, trainMember } from "./picture-space/member.ts";
import { loadPhotoSet, type PhotoSet } from "./picture-space/photo-set.ts";
import { createRandom, shuffle } from "./picture-space/random.ts";
import { PROJECT } from "./stack/local-state.ts";

const USAGE = `Usage: npm run train -- [options]

Trains the picture-text space of the offline engine on <DIR>/photos-train (photos and captions.json)
and measures it on <DIR>/photos, if there. Features are kept in .wrangler/picture-space, so a run that
was ended goes on where it stopped.

  --data DIR      where the photos are (default ../shared/data)
  --photos N      train on the first N photos only
  --seed N        of all that is left to chance (default 1)
  --hold-out N    train without N photos and measure on these: for choosing a recipe
  --out FILE      where the weights go (default: where the engine has its own; none with --hold-out)
  --epochs N      (default 40)
  --members N     pairs of towers whose cosines are averaged (default 4)
  --help          show this
`;

const RECIPE: Recipe = {
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
  const heldOut = readCount("hold-out", values["hold-out"], 0);
  const epochs = readCount("epochs", values.epochs);
  const members = readCount("members", values.members);
  const data = resolve(values.data);
  const readers = { pictures: await loadPictureReader(), sentences: await loadSentences() };
  const cacheFolder = join(PROJECT, ".wrangler/picture-space");
  const load = (name: string, most: number) =>
    loadPhotoSet(join(data, name), readers, { cacheFolder, limit: most, log });

  const set = await load("photos-train", limit);
  if (heldOut >= set.pictures.rows) throw new Error("--hold-out leaves no photo to train on.");
  const order = shuffle(set.pictures.rows, createRandom(seed));
  const file = train(set, order.slice(heldOut), { ...RECIPE, epochs }, seed, members);
  const out = values.out ?? (heldOut ? null : PICTURE_SPACE_FILE);
  if (out) {
    await writeFile(out, file);
    log(`${out}: ${(file.length / 1e6).toFixed(1)} MB`);
  }
  if (heldOut) {
    show("held out", measure(file, set, order.slice(0, heldOut)));
    return;
  }
  if (!existsSync(join(data, "photos"))) return;
  const other = await load("photos", Infinity);
  show(
    "photos",
    measure(
      file,
      other,
      Array.from({ length: other.pictures.rows }, (_, photo) => photo),
    ),
  );
}

/** The weights' file after training on the rows `photos` of the set. */
function train(
  set: PhotoSet,
  photos: readonly number[],
  recipe: Recipe,
  seed: number,
  members: number,
): Buffer {
  const lessons = prepareLessons(set, photos);
  const { pictures, words, vocabulary } = lessons;
  log(`Training on ${pictures.rows} photos, ${words.length} captions, ${vocabulary.length} words.`);
  const about = {
    model: PICTURE_MODEL,
    dimensions: members * recipe.dimensions,
    pictureReader: PICTURE_READER,
    sentenceModel: SENTENCE_MODEL,
    training: { photos: pictures.rows, captions: words.length, epochs: recipe.epochs, seed },
    vocabulary,
  };
  const trained = Array.from({ length: members }, (_, member) =>
    trainMember(lessons, recipe, seed + member, (epoch, loss) => {
      if ((epoch + 1) % 5 === 0) {
        log(`towers ${member + 1} of ${members}, epoch ${epoch + 1}: loss ${loss.toFixed(3)}`);
      }
    }),
  );
  return writeWeights({ about, members: trained });
}

/** As the engine will answer: from the file. */
function measure(file: Buffer, set: PhotoSet, photos: readonly number[]): Retrieval {
  const places = createPlaces(readWeights(file));
  const place = new Map(photos.map((photo, at) => [photo, at]));
  const captions = [...set.captions.keys()].filter((at) => place.has(set.photoOf[at] ?? -1));
  return measureRetrieval(
    photos.map((photo) => places.ofPicture(rowOf(set.pictures, photo))),
    captions.map((at) => places.ofText(set.captions[at] ?? "", rowOf(set.sentences, at))),
    captions.map((at) => place.get(set.photoOf[at] ?? -1) ?? -1),
  );
}

function show(name: string, { text_to_picture, picture_to_text, pictures }: Retrieval): void {
  log(`${name}, ${pictures} pictures:`);
  console.table({ text_to_picture, picture_to_text });
}

function readCount(name: string, text: string, least = 1): number {
  if (/^\d+$/.test(text) && Number(text) >= least) return Number(text);
  throw new Error(`--${name} is a whole number from ${least}.`);
}

try {
  await main();
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}
