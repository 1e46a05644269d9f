import { expect, it } from "vitest";
import { nearestEntry } from "../../../src/search/calibration-entry.ts";
import { CALIBRATIONS } from "../../../src/search/calibration.ts";
import { generateArchive } from "../../../tools/calibration/generated-archive.ts";
import {
  fitDeploymentEntry,
  judgeArchive,
  measureErrors,
} from "../../../tools/deployment-calibration/fit-deployment.ts";
import { embedConcepts } from "../../support/concept-model.ts";

const SIZE = { scenes: 300, drawings: 0, queries: { text: 300, drawings: 0, images: 0 } };
/** A model whose cosines are all above 0.6. */
const NARROW = { dimensions: 64, common: 1.5, noise: 0.5 };

async function judgeNewArchive(seed: number) {
  const archive = await generateArchive(SIZE, seed);
  const told = archive.segments.flatMap((one) => [one.caption, one.transcript, one.onScreenText]);
  const all = [...told, ...archive.textQueries.map(({ text }) => text)];
  const texts = new Map(all.map((text) => [text, embedConcepts(text, NARROW)]));
  const noImages = { textsForImages: null, images: new Map(), imageQueries: [] };
  return judgeArchive("concepts", archive, { texts, ...noImages });
}

it("parameters fitted on one archive lower the calibration error of other models on another", async () => {
  const models = { text: "concepts", image: null };
  const borrowed = nearestEntry(CALIBRATIONS, models);
  const fitted = fitDeploymentEntry(models, "", borrowed, await judgeNewArchive(1));
  const other = await judgeNewArchive(2);
  const [before, after] = [measureErrors(borrowed, other), measureErrors(fitted, other)];
  expect(before.text).toBeGreaterThan(0.04);
  expect(after.text).toBeLessThan(0.7 * before.text);
});
