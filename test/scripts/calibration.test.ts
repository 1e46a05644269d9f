import { describe, expect, it } from "vitest";
import { rankByChannels } from "../../bench/rankings.ts";
import { drawReliability } from "../../bench/reliability-diagram.ts";
import calibrations from "../../src/search/calibrations.json" with { type: "json" };
import { type EvidenceModel, probabilityOfAny } from "../../src/search/fuse.ts";
import { mergeCalibrationEntries } from "../../tools/calibration/calibrations-file.ts";
import { fitCalibrationEntries, refitLabels } from "../../tools/calibration/entries.ts";
import { fitEvidenceModels } from "../../tools/calibration/fit.ts";
import type { GroundTruth } from "../../tools/calibration/judgments.ts";
import { sampleQueries } from "../../tools/calibration/questions.ts";
import { createRandom } from "../../tools/random-numbers.ts";
import { binForecasts, calibrationError } from "../../tools/reliability.ts";

const dog: GroundTruth = {
  file: "dog.jpg",
  at: null,
  captions: ["A brown dog runs on sand.", "The dog is running by the sea."],
};
const boat: GroundTruth = { file: "video.mp4", at: 7.5, captions: ["Two boats on the sea."] };

it("sampled queries are made of captions, a quarter of them of absent ones", () => {
  const corpus = { files: [], truths: [dog, boat], absentCaptions: ["A red kite over a castle."] };
  const questions = sampleQueries(corpus, 100, createRandom(1));
  expect(questions).toEqual(sampleQueries(corpus, 100, createRandom(1)));
  expect(questions.filter(({ isPresent }) => !isPresent)).toHaveLength(25);
  for (const { text, caption, form } of questions) {
    expect(text).not.toBe("");
    if (form === "sentence") expect(text).toBe(caption);
    else expect(text.length).toBeLessThan(caption.length);
  }
});

describe("the fit of evidence models", () => {
  const textModel = {
    bias: -2,
    weights: {
      term_coverage: { threshold: 0, exponent: 1, weight: 4 },
      image_similarity: { threshold: 0.2, exponent: 1, weight: 0 },
    },
  };
  const imageModel = {
    bias: -4,
    weights: { image_similarity: { threshold: 0.5, exponent: 2, weight: 24 } },
  };
  const random = createRandom(1);
  const createExamples = (count: number, models: readonly EvidenceModel[]) =>
    Array.from({ length: count }, () => {
      const signals = { term_coverage: random(), image_similarity: random() };
      return { signals, isRight: random() < probabilityOfAny(signals, models) };
    });
  const examples = createExamples(5000, [textModel]);

  it("finds the model that generated the examples", () => {
    const [{ bias, weights }] = fitEvidenceModels(examples, [textModel.weights]) as [EvidenceModel];
    expect(bias).toBeCloseTo(-2, 0);
    expect(weights.term_coverage!.weight).toBeGreaterThan(3.5);
    expect(weights.term_coverage!.weight).toBeLessThan(4.5);
    expect(weights.image_similarity!.weight).toBeLessThan(0.3);
  });

  it("finds both of two models, either of which is enough", () => {
    const both = createExamples(20_000, [textModel, imageModel]);
    const models = fitEvidenceModels(both, [
      { term_coverage: textModel.weights.term_coverage },
      imageModel.weights,
    ]);
    expect(models[0]!.weights.term_coverage!.weight).toBeCloseTo(4, 0);
    expect(models[1]!.weights.image_similarity!.weight / 24).toBeCloseTo(1, 0);
    for (const { signals } of both.slice(0, 100)) {
      const difference =
        probabilityOfAny(signals, models) - probabilityOfAny(signals, [textModel, imageModel]);
      expect(Math.abs(difference)).toBeLessThan(0.05);
    }
  });

  it("counts an example by its weight", () => {
    const duplicated = examples.flatMap((example, i) =>
      i % 2 === 0 ? [example, example] : [example],
    );
    const weighted = examples.map((example, i) =>
      Object.assign({ weight: i % 2 === 0 ? 2 : 1 }, example),
    );
    const [fromDuplicates] = fitEvidenceModels(duplicated, [textModel.weights]) as [EvidenceModel];
    const [fromWeights] = fitEvidenceModels(weighted, [textModel.weights]) as [EvidenceModel];
    expect(fromWeights.bias).toBeCloseTo(fromDuplicates.bias, 6);
    expect(fromWeights.weights.term_coverage!.weight).toBeCloseTo(
      fromDuplicates.weights.term_coverage!.weight,
      6,
    );
  });

  it("has no negative weight, even if more of a signal is worse", () => {
    const inverted = examples.map(({ signals, isRight }) => ({ signals, isRight: !isRight }));
    const [model] = fitEvidenceModels(inverted, [textModel.weights]) as [EvidenceModel];
    expect(model.weights.term_coverage!.weight).toBe(0);
  });

  it("stays finite if a signal separates the examples", () => {
    const separable = [0, 1].map((coverage) => ({
      signals: { term_coverage: coverage },
      isRight: coverage === 1,
    }));
    const [model] = fitEvidenceModels(separable, [
      { term_coverage: { threshold: 0, exponent: 1 } },
    ]) as [EvidenceModel];
    expect(probabilityOfAny({ term_coverage: 1 }, [model])).toBeGreaterThan(0.9);
    expect(Number.isFinite(model.bias)).toBe(true);
  });
});

describe("calibration entries", () => {
  const hit = (isRight: boolean) => ({
    signals: { term_coverage: isRight ? 1 : 0, copy_similarity: isRight ? 1 : 0 },
    score: 0.5,
    isRight,
  });
  const queries = [{ hits: [hit(true), hit(false), hit(false)], relevantCount: 1 }];
  const entries = fitCalibrationEntries({
    text: queries,
    textWithoutImages: queries,
    images: queries,
  });

  it("are fitted with image embeddings and without, in the shape of calibrations.json", () => {
    const [withImages, withoutImages] = entries;
    const stored = calibrations.find(({ models }) => models.image === "");
    expect(Object.keys(withImages!)).toEqual(Object.keys(stored!));
    expect(withImages!.models).toEqual(stored!.models);
    expect(withImages!.text).toHaveLength(2);
    expect(withImages!.text[0]!.weights.term_coverage).toMatchObject({
      threshold: 0,
      exponent: 12,
    });
    expect(Object.keys(withImages!.image!.weights)).toContain("image_margin");
    expect(Object.keys(withImages!.example.weights)).toContain("image_margin");
    expect(withoutImages!.models).toEqual({ ...withImages!.models, image: null });
    expect(withoutImages!.image).toBeNull();
    expect(Object.keys(withoutImages!.example.weights)).toEqual(["copy_similarity"]);
  });

  it("take what labels say from archives with text and from images alone", () => {
    const [entry] = calibrations;
    const judged = (rightOf10: number) =>
      Array.from({ length: 10 }, (_, i) => {
        const hit = { signals: { label_coverage: 1 }, score: 0.5, isRight: i < rightOf10 };
        return { hits: Array.from({ length: 20 }, () => hit), relevantCount: 20 };
      });
    const { image, imageAlone, ...others } = refitLabels(entry!, judged(8), judged(4));
    const probability = (model: EvidenceModel | null) =>
      probabilityOfAny({ label_coverage: 1 }, [...entry!.text, model!]);
    expect(probability(image)).toBeCloseTo(0.8, 2);
    expect(probability(imageAlone)).toBeCloseTo(0.4, 2);
    expect({ ...others, image: entry!.image, imageAlone: entry!.imageAlone }).toEqual(entry);
    expect(image!.bias).toBe(entry!.image!.bias);
    expect(image!.weights.image_margin).toEqual(entry!.image!.weights.image_margin);
  });

  it("replace stored entries of the same models in their place and leave the others", () => {
    const [withImages, withoutImages] = entries;
    const other = { ...withImages!, models: { text: "another-model", image: "" } };
    const old = { ...withImages!, text: [] };
    expect(mergeCalibrationEntries(entries, [old, other])).toEqual([
      withImages,
      other,
      withoutImages,
    ]);
  });
});

describe("the calibration error", () => {
  const forecast = (score: number, isRight: boolean) => ({ score, isRight });
  it.each<[string, { score: number; isRight: boolean }[], number]>([
    ["0 for perfect forecasts", [forecast(1, true), forecast(0, false)], 0],
    ["the full score for a certain miss", [forecast(0.95, false)], 0.95],
    ["the gap to half of the forecasts", [forecast(0.52, true), forecast(0.54, false)], 0.03],
    [
      "weighted by forecast count",
      [forecast(0, false), forecast(0, false), forecast(1, false)],
      1 / 3,
    ],
  ])("is %s", (_, forecasts, error) => {
    expect(calibrationError(binForecasts(forecasts))).toBeCloseTo(error);
  });

  it("is drawn as a diagram with a circle for each bin", () => {
    const svg = drawReliability(binForecasts([forecast(0.1, false), forecast(0.9, true)]));
    expect(svg.match(/<circle /g)).toHaveLength(2);
  });
});

it("a hit list is ranked by each channel and by each fusion method", () => {
  const a = { signals: { bm25_normalized: 1, image_similarity: 0.1 }, isRight: true };
  const b = { signals: { image_similarity: 0.9, text_margin: 0.3 }, isRight: false };
  const c = {
    signals: { bm25_normalized: 0.2, image_similarity: 0.5, text_margin: 0.2 },
    isRight: false,
  };
  expect(rankByChannels([c, b, a])).toEqual({
    full_text: [a, c],
    text_vectors: [b, c],
    image_vectors: [b, c, a],
    "reciprocal rank": [c, b, a],
    "min-max sum": [b, a, c],
    fused: [c, b, a],
  });
});
