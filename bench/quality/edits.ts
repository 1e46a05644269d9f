import { readFile } from "node:fs/promises";
import { join } from "node:path";
import sharp, { type Sharp } from "sharp";
import { readCaptionedPhotos } from "../../scripts/picture-space/captions.ts";
import { SIGNATURE } from "../../src/config.ts";
import { querySignatures, signPicture } from "../../src/media/signature.ts";
import { round, quantile, type Suite } from "../suite.ts";

const QUERIES = 200;
const BAR = 0.17;

/** Where a crop lies, each way: 0 at the left or top, 1 at the right or bottom. */
type Place = readonly [across: number, down: number];
type Edit = (picture: Sharp, width: number, height: number, places: Place) => Sharp;

/** Keeps so much of each side. */
function crop(across: number, down: number, place?: Place): Edit {
  return (picture, width, height, random) => {
    const kept = { width: Math.round(width * across), height: Math.round(height * down) };
    const [left, top] = place ?? random;
    return picture.extract({
      ...kept,
      left: Math.floor((width - kept.width) * left),
      top: Math.floor((height - kept.height) * top),
    });
  };
}

const CENTRE: Place = [0.5, 0.5];
const EDITS: Record<string, Edit> = {
  "as it is": (picture) => picture,
  "crop 90 % centre": crop(0.9, 0.9, CENTRE),
  "crop 80 % centre": crop(0.8, 0.8, CENTRE),
  "crop 70 % centre": crop(0.7, 0.7, CENTRE),
  "crop 90 % anywhere": crop(0.9, 0.9),
  "crop 80 % anywhere": crop(0.8, 0.8),
  "crop 70 % anywhere": crop(0.7, 0.7),
  "crop 70 % corner": crop(0.7, 0.7, [1, 0]),
  "crop 90 × 72 %": crop(0.9, 0.72),
  "crop 77 × 85 %": crop(0.77, 0.85),
  mirror: (picture) => picture.flop(),
  "JPEG quality 30": (picture) => picture.jpeg({ quality: 30 }),
  grey: (picture) => picture.greyscale(),
  "scale 50 %": (picture, width) => picture.resize(Math.round(width / 2)),
  "scale 200 %": (picture, width) => picture.resize(width * 2),
  letterbox: (picture, _, height) => picture.extend({ ...vertical(height), background: "black" }),
  pillarbox: (picture, width) => picture.extend({ ...horizontal(width), background: "black" }),
  "brightness +20 %": (picture) => picture.linear(1.2, 0),
  "brightness −20 %": (picture) => picture.linear(0.8, 0),
  "crop 80 % anywhere, mirror": (...args) => crop(0.8, 0.8)(...args).flop(),
};

function vertical(height: number) {
  return { top: Math.round(height * BAR), bottom: Math.round(height * BAR) };
}

function horizontal(width: number) {
  return { left: Math.round(width * BAR), right: Math.round(width * BAR) };
}

/** As `media/pixels.ts` gets them from the Images binding. */
async function greyPixels(jpeg: Buffer): Promise<Uint8Array> {
  const { side } = SIGNATURE;
  const rgb = sharp(jpeg).toColourspace("srgb").resize(side, side, { fit: "fill" });
  const data = await rgb.ensureAlpha().raw({ depth: "uchar" }).toBuffer();
  return Uint8Array.from({ length: side * side }, (_, i) =>
    Math.round(0.299 * data[i * 4]! + 0.587 * data[i * 4 + 1]! + 0.114 * data[i * 4 + 2]!),
  );
}

/** What D1 does for the Worker: the pictures that share most keys, in memory. */
class Lookup {
  readonly thumbnails: string[] = [];
  readonly #byKey = new Map<number, number[]>();

  add(pixels: Uint8Array): number {
    const { keys, thumbnail } = signPicture(pixels);
    const id = this.thumbnails.push(thumbnail) - 1;
    for (const key of keys) this.#byKey.set(key, [...(this.#byKey.get(key) ?? []), id]);
    return keys.length;
  }

  candidates(keys: number[]): number[] {
    const shared = new Map<number, number>();
    const matches = keys.flatMap((key) => this.#byKey.get(key) ?? []);
    for (const id of matches.slice(0, SIGNATURE.maxMatches)) {
      shared.set(id, (shared.get(id) ?? 0) + 1);
    }
    const ids = [...shared.keys()].toSorted((a, b) => shared.get(b)! - shared.get(a)!);
    return ids.slice(0, SIGNATURE.candidates);
  }
}

interface Outcome {
  isFirst: boolean;
  own: number;
  /** Of the best other picture. */
  other: number;
  keys: number;
  milliseconds: number;
}

function ask(lookup: Lookup, pixels: Uint8Array, wanted: number): Outcome {
  const start = performance.now();
  const query = querySignatures(pixels);
  let [own, other] = [0, 0];
  for (const id of lookup.candidates(query.keys)) {
    const similarity = query.compare(lookup.thumbnails[id]!);
    if (id === wanted) own = similarity;
    else other = Math.max(other, similarity);
  }
  const milliseconds = performance.now() - start;
  return { isFirst: own > other, own, other, keys: query.keys.length, milliseconds };
}

/** Numbers between 0 and 1 that are the same in each run (Park and Miller, 1988). */
function* randomNumbers(): Generator<number, never> {
  for (let state = 42; ; state = (state * 48_271) % 2_147_483_647) yield state / 2_147_483_647;
}

function sumUp(outcomes: Outcome[]) {
  const percent = (isSo: (outcome: Outcome) => boolean) =>
    round((100 * outcomes.filter(isSo).length) / outcomes.length, 1);
  return {
    first: percent(({ isFirst }) => isFirst),
    same: percent(({ isFirst, own }) => isFirst && own >= SIGNATURE.same),
    false_same: percent(({ other }) => other >= SIGNATURE.same),
  };
}

export const suite: Suite = {
  summary: "edited photos → their originals among <DIR>/photos, by their signatures alone",
  async run({ dataDir, log, signal }) {
    const photos = await readCaptionedPhotos(join(dataDir, "photos"));
    const lookup = new Lookup();
    let keys = 0;
    for (const { path } of photos) keys += lookup.add(await greyPixels(await readFile(path)));
    const random = randomNumbers();
    const every = Math.max(1, Math.floor(photos.length / QUERIES));
    const wanted = photos.map((_, id) => id).filter((id) => id % every === 0);
    const table: Record<string, string | number>[] = [];
    const all: Outcome[] = [];
    for (const [name, edit] of Object.entries(EDITS)) {
      log(name);
      const outcomes: Outcome[] = [];
      for (const id of wanted.slice(0, QUERIES)) {
        signal.throwIfAborted();
        const bytes = await readFile(photos[id]!.path);
        const { width, height } = await sharp(bytes).metadata();
        const place = [random.next().value, random.next().value] as const;
        const edited = edit(sharp(bytes).jpeg({ quality: 85 }), width, height, place);
        outcomes.push(ask(lookup, await greyPixels(await edited.toBuffer()), id));
      }
      table.push({ edit: name, ...sumUp(outcomes) });
      all.push(...outcomes);
    }
    const own = all.filter(({ isFirst }) => isFirst).map((outcome) => outcome.own);
    const json = {
      photos: photos.length,
      queries: all.length,
      ...sumUp(all),
      own_p1: quantile(own, 0.01),
      other_p99: quantile(
        all.map(({ other }) => other),
        0.99,
      ),
      keys_stored: round(keys / photos.length, 1),
      keys_asked: Math.round(
        quantile(
          all.map((outcome) => outcome.keys),
          0.5,
        ),
      ),
      ms_p50: round(
        quantile(
          all.map(({ milliseconds }) => milliseconds),
          0.5,
        ),
        1,
      ),
    };
    table.push({ edit: "all", ...sumUp(all) });
    return { table, json: { ...json, edits: table } };
  },
};
