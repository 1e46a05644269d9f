import type { EnsembleMember } from "../../local/engine/joint-space/towers.ts";
import { createRandom, type Random } from "../random-numbers.ts";
import { createAdamW, scheduleRate } from "./adamw.ts";
import {
  createDense,
  createDropout,
  createGelu,
  createParameter,
  createSequence,
} from "./dense.ts";
import { createEmbeddingBag } from "./embedding-bag.ts";
import { infoNce } from "./info-nce.ts";
import { createMatrix, type Matrix, pickRows } from "./matrix.ts";
import { backpropagateNormalization, normalizeRows } from "./normalize.ts";
import { shuffle } from "./random.ts";
import { foldStandardization, measureColumns, standardize } from "./standardize.ts";
import type { TrainingData } from "./training-data.ts";

export interface TrainingRecipe {
  hidden: number;
  dimensions: number;
  epochs: number;
  batch: number;
  rate: number;
  decay: number;
  /** Dropout rates. */
  drop: { features: number; hidden: number; sentence: number; words: number };
}

const FIRST_LOG_SCALE = 2.6;
const MAX_LOG_SCALE = Math.log(60);

/** Trains one pair of towers. `report` gets the mean loss of each epoch. */
export function trainTowers(
  data: TrainingData,
  recipe: TrainingRecipe,
  seed: number,
  report: (epoch: number, loss: number) => void,
): EnsembleMember {
  const random = createRandom(seed);
  const imageStatistics = measureColumns(data.images);
  const images = standardize(data.images, imageStatistics);
  const sentenceStatistics = { ...measureColumns(data.sentences) };
  sentenceStatistics.deviations.fill(1);
  const sentences = standardize(data.sentences, sentenceStatistics);

  const hidden = createDense(images.columns, recipe.hidden, random);
  const out = createDense(recipe.hidden, recipe.dimensions, random);
  const imageTower = createSequence([
    createDropout(recipe.drop.features, random),
    hidden,
    createGelu(),
    createDropout(recipe.drop.hidden, random),
    out,
  ]);
  const sentence = createDense(sentences.columns, recipe.dimensions, random);
  const sentenceTower = createSequence([createDropout(recipe.drop.sentence, random), sentence]);
  const bag = createEmbeddingBag(data.vocabulary.length, recipe.dimensions, random);
  const parameters = [...imageTower.parameters, ...sentenceTower.parameters, bag.words];
  const logScale = createParameter({
    ...createMatrix(1, 1),
    data: Float32Array.of(FIRST_LOG_SCALE),
  });
  const stepParameters = createAdamW(parameters, recipe.decay);
  const stepScale = createAdamW([logScale], 0);

  const size = Math.min(recipe.batch, images.rows);
  const batches = Math.floor(images.rows / size);
  const steps = recipe.epochs * batches;
  for (let epoch = 0; epoch < recipe.epochs; epoch++) {
    const order = shuffle(images.rows, random);
    let loss = 0;
    for (let batch = 0; batch < batches; batch++) {
      const photos = order.slice(batch * size, (batch + 1) * size);
      const captions = photos.map((photo) => pick(data.captionsOf[photo] ?? [], random));
      const words = captions.map((caption) =>
        (data.words[caption] ?? []).filter(() => random() >= recipe.drop.words),
      );
      const texts = sentenceTower.forward(pickRows(sentences, captions), true);
      add(texts, bag.forward(words));
      const imageRows = normalizeRows(imageTower.forward(pickRows(images, photos), true));
      const textRows = normalizeRows(texts);
      const step = infoNce(imageRows.rows, textRows.rows, logScale.value.data[0] ?? 0);
      loss += step.loss / batches;
      imageTower.backward(backpropagateNormalization(imageRows, step.images));
      const textGradient = backpropagateNormalization(textRows, step.texts);
      sentenceTower.backward(textGradient);
      bag.backward(textGradient);
      logScale.gradient.data[0] = step.logScale;
      const rate = recipe.rate * scheduleRate(epoch * batches + batch, steps);
      stepParameters(rate);
      stepScale(rate);
      logScale.value.data[0] = Math.min(MAX_LOG_SCALE, logScale.value.data[0] ?? 0);
    }
    report(epoch, loss);
  }
  const unchanged = {
    means: new Float32Array(recipe.hidden),
    deviations: new Float32Array(recipe.hidden).fill(1),
  };
  return {
    imageHidden: foldStandardization(hidden, imageStatistics),
    imageOut: foldStandardization(out, unchanged),
    sentence: foldStandardization(sentence, sentenceStatistics),
    words: {
      inputs: data.vocabulary.length,
      outputs: recipe.dimensions,
      data: bag.words.value.data,
    },
  };
}

function add(to: Matrix, from: Matrix): void {
  for (let at = 0; at < to.data.length; at++) to.data[at]! += from.data[at]!;
}

function pick(from: readonly number[], random: Random): number {
  return from[Math.floor(random() * from.length)] ?? 0;
}
