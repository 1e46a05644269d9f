import type { Member } from "../../local/engine/picture-space/towers.ts";
import { createAdamW, scheduleRate } from "./adamw.ts";
import { createBag } from "./bag.ts";
import { contrast } from "./contrast.ts";
import {
  createDense,
  createDropout,
  createGelu,
  createParameter,
  createSequence,
} from "./dense.ts";
import type { Lessons } from "./lessons.ts";
import { createMatrix, type Matrix, pickRows } from "./matrix.ts";
import { denormalize, normalizeRows } from "./normalize.ts";
import { createRandom, type Random, shuffle } from "./random.ts";
import { foldStandard, measureColumns, standardize } from "./standardize.ts";

export interface Recipe {
  hidden: number;
  dimensions: number;
  epochs: number;
  batch: number;
  rate: number;
  decay: number;
  /** Shares that are left out while training. */
  drop: { features: number; hidden: number; sentence: number; words: number };
}

const FIRST_LOG_SCALE = 2.6;
const MAX_LOG_SCALE = Math.log(60);

/** Trains one pair of towers. `report` is told the mean loss of each epoch. */
export function trainMember(
  lessons: Lessons,
  recipe: Recipe,
  seed: number,
  report: (epoch: number, loss: number) => void,
): Member {
  const random = createRandom(seed);
  const pictureStandard = measureColumns(lessons.pictures);
  const pictures = standardize(lessons.pictures, pictureStandard);
  const sentenceStandard = { ...measureColumns(lessons.sentences) };
  sentenceStandard.deviations.fill(1);
  const sentences = standardize(lessons.sentences, sentenceStandard);

  const hidden = createDense(pictures.columns, recipe.hidden, random);
  const out = createDense(recipe.hidden, recipe.dimensions, random);
  const pictureTower = createSequence([
    createDropout(recipe.drop.features, random),
    hidden,
    createGelu(),
    createDropout(recipe.drop.hidden, random),
    out,
  ]);
  const sentence = createDense(sentences.columns, recipe.dimensions, random);
  const sentenceTower = createSequence([createDropout(recipe.drop.sentence, random), sentence]);
  const bag = createBag(lessons.vocabulary.length, recipe.dimensions, random);
  const learnt = [...pictureTower.parameters, ...sentenceTower.parameters, bag.words];
  const logScale = createParameter({
    ...createMatrix(1, 1),
    data: Float32Array.of(FIRST_LOG_SCALE),
  });
  const improve = createAdamW(learnt, recipe.decay);
  const improveScale = createAdamW([logScale], 0);

  const size = Math.min(recipe.batch, pictures.rows);
  const batches = Math.floor(pictures.rows / size);
  const steps = recipe.epochs * batches;
  for (let epoch = 0; epoch < recipe.epochs; epoch++) {
    const order = shuffle(pictures.rows, random);
    let loss = 0;
    for (let batch = 0; batch < batches; batch++) {
      const photos = order.slice(batch * size, (batch + 1) * size);
      const captions = photos.map((photo) => pick(lessons.captionsOf[photo] ?? [], random));
      const words = captions.map((caption) =>
        (lessons.words[caption] ?? []).filter(() => random() >= recipe.drop.words),
      );
      const texts = sentenceTower.forward(pickRows(sentences, captions), true);
      add(texts, bag.forward(words));
      const seen = normalizeRows(pictureTower.forward(pickRows(pictures, photos), true));
      const told = normalizeRows(texts);
      const step = contrast(seen.rows, told.rows, logScale.value.data[0] ?? 0);
      loss += step.loss / batches;
      pictureTower.backward(denormalize(seen, step.pictures));
      const change = denormalize(told, step.texts);
      sentenceTower.backward(change);
      bag.backward(change);
      logScale.gradient.data[0] = step.logScale;
      const rate = recipe.rate * scheduleRate(epoch * batches + batch, steps);
      improve(rate);
      improveScale(rate);
      logScale.value.data[0] = Math.min(MAX_LOG_SCALE, logScale.value.data[0] ?? 0);
    }
    report(epoch, loss);
  }
  const unchanged = {
    means: new Float32Array(recipe.hidden),
    deviations: new Float32Array(recipe.hidden).fill(1),
  };
  return {
    pictureHidden: foldStandard(hidden, pictureStandard),
    pictureOut: foldStandard(out, unchanged),
    sentence: foldStandard(sentence, sentenceStandard),
    words: {
      inputs: lessons.vocabulary.length,
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
