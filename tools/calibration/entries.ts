import { SENTENCE_MODEL } from "../../local/engine/sentences.ts";
import {
  type CalibrationEntry,
  type EvidenceModel,
  type LogOddsCurve,
  probabilityOfAny,
  relevanceProbability,
} from "../../src/search/fuse.ts";
import { fitCurve } from "./fit-curve.ts";
import { fitEvidenceModels, type KnownModel, refitEvidenceModels } from "./fit.ts";
import { type JudgedQuery, weighExamples } from "./judgments.ts";
import { EXACT_TEXT, EXAMPLE, EXAMPLE_NO_IMAGE, IMAGE, SIMILAR_TEXT } from "./model-shapes.ts";

/** What the entries of the offline engine's models were fitted on. */
const SOURCE = "500 photos with captions by people, laid out as an archive";

/** Judged queries by kind: text, text without image embeddings, and images. */
export interface CalibrationQueries {
  text: JudgedQuery[];
  textWithoutImages: JudgedQuery[];
  images: JudgedQuery[];
}

/** Fits the entries for the offline engine's models, with image embeddings and without. */
export function fitCalibrationEntries(queries: CalibrationQueries): CalibrationEntry[] {
  const textExamples = [...queries.text, ...queries.textWithoutImages].flatMap(weighExamples);
  const imageExamples = queries.images.flatMap(({ hits }) => hits);
  const shapes = [EXACT_TEXT, SIMILAR_TEXT, IMAGE];
  const [exactText, similarText, image] = fitEvidenceModels(textExamples, shapes);
  const [example] = fitEvidenceModels(imageExamples, [EXAMPLE]);
  const [exampleWithoutImages] = fitEvidenceModels(imageExamples, [EXAMPLE_NO_IMAGE]);
  const text = [exactText!, similarText!];
  const toModels = (imageModel: string | null) => ({ text: SENTENCE_MODEL, image: imageModel });
  const source = SOURCE;
  return [
    {
      models: toModels(""),
      source,
      text,
      textCurve: [],
      image: image!,
      imageAlone: image!,
      example: example!,
    },
    {
      models: toModels(null),
      source,
      text,
      textCurve: [],
      image: null,
      imageAlone: null,
      example: exampleWithoutImages!,
    },
  ];
}

/** Hits of a query that people look at, and whose scores count most. */
const FIRST_HITS = 10;
/** Bias and weights that the fit starts from. */
const START = { bias: -4, weight: 1 };
const UNKNOWN = 1e-3;

/**
 * Fits what the vectors of images say to archives of many sizes, with text and of images alone.
 * What text and labels say stays as it is.
 */
export function refitImages(
  entry: CalibrationEntry,
  withText: readonly JudgedQuery[],
  alone: readonly JudgedQuery[],
): CalibrationEntry {
  return {
    ...entry,
    image: fitImages(entry, withText),
    imageAlone: fitImages(entry, alone),
  };
}

/** Fits the curve that corrects what models of text say of the first hits of queries. */
export function fitTextCurve(
  text: readonly EvidenceModel[],
  queries: readonly JudgedQuery[],
): LogOddsCurve {
  const forecasts = firstHits(queries).map(({ signals, isRight }) => {
    return { probability: probabilityOfAny(signals, text), isRight };
  });
  return fitCurve(forecasts);
}

/**
 * Fits what detected labels say to archives of images without captions, beside text and alone. All
 * else stays as it is.
 */
export function refitLabels(
  entry: CalibrationEntry,
  withText: readonly JudgedQuery[],
  alone: readonly JudgedQuery[],
): CalibrationEntry {
  const known = { label_coverage: UNKNOWN };
  return {
    ...entry,
    image: refitVisual(entry, withText, { model: entry.image!, precision: known }),
    imageAlone: refitVisual(entry, alone, { model: entry.imageAlone!, precision: known }),
  };
}

function fitImages(entry: CalibrationEntry, queries: readonly JudgedQuery[]): EvidenceModel {
  const weights = Object.entries(IMAGE).map(([signal, shape]) => {
    return [signal, { ...shape, weight: START.weight }];
  });
  const { label_coverage } = entry.image!.weights;
  const start = { ...Object.fromEntries(weights), label_coverage };
  const precision = {
    bias: 0,
    image_similarity: UNKNOWN,
    image_margin: UNKNOWN,
  };
  return refitVisual(entry, queries, {
    model: { bias: START.bias, weights: start },
    precision,
  });
}

/** Fits an evidence model of images while what text says stays as it is. */
function refitVisual(
  { text, textCurve }: CalibrationEntry,
  queries: readonly JudgedQuery[],
  visual: KnownModel,
): EvidenceModel {
  const examples = firstHits(queries).map(({ signals, isRight }) => {
    const known = relevanceProbability(signals, { text, textCurve, visual: null });
    return { signals, isRight, known };
  });
  return refitEvidenceModels(examples, [visual])[0]!;
}

function firstHits(queries: readonly JudgedQuery[]) {
  return queries.flatMap(({ hits }) => hits.slice(0, FIRST_HITS));
}
