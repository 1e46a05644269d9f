import { expect, it } from "vitest";
import { CALIBRATIONS } from "../../../src/search/calibration.ts";
import { probabilityOfAny } from "../../../src/search/fuse.ts";
import { generateArchive } from "../../../tools/calibration/generated-archive.ts";
import { cosineRange, moveCosines } from "../../../tools/deployment-calibration/cosine-range.ts";
import {
  fitText,
  judgeArchive,
  textError,
} from "../../../tools/deployment-calibration/fit-deployment.ts";
import { MemoryIndex } from "../../../tools/memory-search/memory-index.ts";
import { embedConcepts } from "../../support/concept-model.ts";

/** A model whose cosines are all above 0.6. */
const NARROW = { dimensions: 64, common: 1.5, noise: 0.5 };
const [OFFLINE] = CALIBRATIONS;

async function judgeNewArchive(seed: number) {
  const archive = generateArchive(200, 200, seed);
  const told = archive.segments.flatMap((one) => [one.caption, one.transcript, one.onScreenText]);
  const all = [...told, ...archive.queries.map(({ text }) => text)];
  const texts = new Map(all.map((text) => [text, embedConcepts(text, NARROW)]));
  return judgeArchive("concepts", archive, texts);
}

it("parameters fitted on one archive lower the calibration error on another", async () => {
  const fitted = fitText(OFFLINE!, await judgeNewArchive(1));
  const other = await judgeNewArchive(2);
  const [before, after] = [textError(OFFLINE!, other), textError(fitted, other)];
  expect(before).toBeGreaterThan(0.03);
  expect(after).toBeLessThan(0.6 * before);
});

it("a search in memory for a text without a vector fails", async () => {
  const index = await MemoryIndex.open("concepts", [], { texts: new Map(), images: null });
  await expect(index.search({ query: "a boat", topK: 1 })).rejects.toThrow('"a boat"');
});

it("cosines in another range get the probabilities that they had in the first", () => {
  const model = OFFLINE!.image!;
  const moved = moveCosines(model, { mean: 0.25, deviation: 0.08 }, { mean: 0.7, deviation: 0.02 });
  for (const deviations of [-2, 0, 1, 3]) {
    const signals = (mean: number, deviation: number) => ({
      image_similarity: mean + deviations * deviation,
      image_margin: deviations * deviation,
    });
    const expected = probabilityOfAny(signals(0.25, 0.08), [model]);
    expect(probabilityOfAny(signals(0.7, 0.02), [moved])).toBeCloseTo(expected, 6);
  }
});

it("a cosine range has the mean and the deviation of the nearest vectors", () => {
  const { mean, deviation } = cosineRange(
    [[1, 0]],
    [
      [2, 0],
      [0, 3],
    ],
  );
  expect(mean).toBeCloseTo(0.5);
  expect(deviation).toBeCloseTo(0.5);
});
