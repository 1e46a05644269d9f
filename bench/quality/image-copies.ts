import { readFile } from "node:fs/promises";
import { join } from "node:path";
import sharp, { type Sharp } from "sharp";
import { computeQuerySignature, computeSignature } from "../../src/media/pixels/image-signature.ts";
import { SIGNATURE } from "../../src/parameters.ts";
import { round, quantile, type Suite } from "../../tools/suite.ts";
import { readCaptionedPhotos } from "../../tools/training/captions.ts";

const QUERIES = 200;
const BAR_SHARE = 0.17;

/** Position of a crop: 0 is left or top, 1 is right or bottom. */
type CropPosition = readonly [across: number, down: number];
type Edit = (image: Sharp, width: number, height: number, position: CropPosition) => Sharp;

/** Crops to a share of the width and height; at a random position by default. */
function crop(across: number, down: number, position?: CropPosition): Edit {
  return (image, width, height, random) => {
    const size = { width: Math.round(width * across), height: Math.round(height * down) };
    const [left, top] = position ?? random;
    return image.extract({
      ...size,
      left: Math.floor((width - size.width) * left),
      top: Math.floor((height - size.height) * top),
    });
  };
}

const CENTRE: CropPosition = [0.5, 0.5];
const EDITS: Record<string, Edit> = {
  "as it is": (image) => image,
  "crop 90 % centre": crop(0.9, 0.9, CENTRE),
  "crop 80 % centre": crop(0.8, 0.8, CENTRE),
  "crop 70 % centre": crop(0.7, 0.7, CENTRE),
  "crop 90 % anywhere": crop(0.9, 0.9),
  "crop 80 % anywhere": crop(0.8, 0.8),
  "crop 70 % anywhere": crop(0.7, 0.7),
  "crop 70 % corner": crop(0.7, 0.7, [1, 0]),
  "crop 90 × 72 %": crop(0.9, 0.72),
  "crop 77 × 85 %": crop(0.77, 0.85),
  mirror: (image) => image.flop(),
  "JPEG quality 30": (image) => image.jpeg({ quality: 30 }),
  grey: (image) => image.greyscale(),
  "scale 50 %": (image, width) => image.resize(Math.round(width / 2)),
  "scale 200 %": (image, width) => image.resize(width * 2),
  letterbox: (image, _, height) => image.extend({ ...vertical(height), background: "black" }),
  pillarbox: (image, width) => image.extend({ ...horizontal(width), background: "black" }),
  "brightness +20 %": (image) => image.linear(1.2, 0),
  "brightness −20 %": (image) => image.linear(0.8, 0),
  "crop 80 % anywhere, mirror": (...args) => crop(0.8, 0.8)(...args).flop(),
};

function vertical(height: number) {
  return { top: Math.round(height * BAR_SHARE), bottom: Math.round(height * BAR_SHARE) };
}

function horizontal(width: number) {
  return { left: Math.round(width * BAR_SHARE), right: Math.round(width * BAR_SHARE) };
}

/** Returns luma pixels as `src/media/pixels/luma.ts` gets them from the IMAGES binding. */
async function lumaPixels(jpeg: Buffer): Promise<Uint8Array> {
  const { side } = SIGNATURE;
  const rgb = sharp(jpeg).toColourspace("srgb").resize(side, side, { fit: "fill" });
  const data = await rgb.ensureAlpha().raw({ depth: "uchar" }).toBuffer();
  return Uint8Array.from({ length: side * side }, (_, i) =>
    Math.round(0.299 * data[i * 4]! + 0.587 * data[i * 4 + 1]! + 0.114 * data[i * 4 + 2]!),
  );
}

/** Stands in for the hash table of an index: finds the images that share most hashes. */
class HashTable {
  readonly thumbnails: Uint8Array[] = [];
  readonly #byHash = new Map<number, number[]>();

  add(pixels: Uint8Array): number {
    const { hashes, lumaThumbnail } = computeSignature(pixels);
    const id = this.thumbnails.push(lumaThumbnail) - 1;
    for (const hash of hashes) this.#byHash.set(hash, [...(this.#byHash.get(hash) ?? []), id]);
    return hashes.length;
  }

  candidates(hashes: number[]): number[] {
    const shared = new Map<number, number>();
    const matches = hashes.flatMap((hash) => this.#byHash.get(hash) ?? []);
    for (const id of matches.slice(0, SIGNATURE.maxHashMatches)) {
      shared.set(id, (shared.get(id) ?? 0) + 1);
    }
    const ids = [...shared.keys()].toSorted((a, b) => shared.get(b)! - shared.get(a)!);
    return ids.slice(0, SIGNATURE.maxCandidates);
  }
}

interface Outcome {
  isFirst: boolean;
  /** Similarity of the original. */
  originalSimilarity: number;
  /** Highest similarity of another image. */
  otherSimilarity: number;
  hashCount: number;
  milliseconds: number;
}

function queryImage(table: HashTable, pixels: Uint8Array, originalId: number): Outcome {
  const start = performance.now();
  const signature = computeQuerySignature(pixels);
  let [originalSimilarity, otherSimilarity] = [0, 0];
  for (const id of table.candidates(signature.hashes)) {
    const similarity = signature.compare(table.thumbnails[id]!);
    if (id === originalId) originalSimilarity = similarity;
    else otherSimilarity = Math.max(otherSimilarity, similarity);
  }
  const milliseconds = performance.now() - start;
  return {
    isFirst: originalSimilarity > otherSimilarity,
    originalSimilarity,
    otherSimilarity,
    hashCount: signature.hashes.length,
    milliseconds,
  };
}

/** Uniform numbers between 0 and 1, the same in each run (Park and Miller, 1988). */
function* randomNumbers(): Generator<number, never> {
  for (let state = 42; ; state = (state * 48_271) % 2_147_483_647) yield state / 2_147_483_647;
}

function summarize(outcomes: Outcome[]) {
  const percent = (matches: (outcome: Outcome) => boolean) =>
    round((100 * outcomes.filter(matches).length) / outcomes.length, 1);
  return {
    first: percent(({ isFirst }) => isFirst),
    copies: percent(
      ({ isFirst, originalSimilarity }) =>
        isFirst && originalSimilarity >= SIGNATURE.minCopySimilarity,
    ),
    false_copies: percent(({ otherSimilarity }) => otherSimilarity >= SIGNATURE.minCopySimilarity),
  };
}

export const suite: Suite = {
  summary: "edited copies of <DIR>/photos: is the original found by its image signature?",
  async run({ dataDir, log, signal }) {
    const photos = await readCaptionedPhotos(join(dataDir, "photos"));
    const hashes = new HashTable();
    let hashCount = 0;
    for (const { path } of photos) hashCount += hashes.add(await lumaPixels(await readFile(path)));
    const random = randomNumbers();
    const every = Math.max(1, Math.floor(photos.length / QUERIES));
    const originalId = photos.map((_, id) => id).filter((id) => id % every === 0);
    const table: Record<string, string | number>[] = [];
    const all: Outcome[] = [];
    for (const [name, edit] of Object.entries(EDITS)) {
      log(name);
      const outcomes: Outcome[] = [];
      for (const id of originalId.slice(0, QUERIES)) {
        signal.throwIfAborted();
        const bytes = await readFile(photos[id]!.path);
        const { width, height } = await sharp(bytes).metadata();
        const position = [random.next().value, random.next().value] as const;
        const edited = edit(sharp(bytes).jpeg({ quality: 85 }), width, height, position);
        outcomes.push(queryImage(hashes, await lumaPixels(await edited.toBuffer()), id));
      }
      table.push({ edit: name, ...summarize(outcomes) });
      all.push(...outcomes);
    }
    const originalSimilarity = all
      .filter(({ isFirst }) => isFirst)
      .map((outcome) => outcome.originalSimilarity);
    const json = {
      photos: photos.length,
      queries: all.length,
      ...summarize(all),
      original_p1: quantile(originalSimilarity, 0.01),
      other_p99: quantile(
        all.map(({ otherSimilarity }) => otherSimilarity),
        0.99,
      ),
      hashes_stored: round(hashCount / photos.length, 1),
      hashes_queried: Math.round(
        quantile(
          all.map((outcome) => outcome.hashCount),
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
    table.push({ edit: "all", ...summarize(all) });
    return { table, json: { ...json, edits: table } };
  },
};
