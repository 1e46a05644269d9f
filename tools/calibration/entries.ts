import { MODELS } from "../../src/config.ts";
import type { CalibrationEntry } from "../../src/search/fuse.ts";
import type { JudgedQuery } from "./collect-examples.ts";
import { type Example, fitEvidenceModels } from "./fit.ts";
import { EXACT_TEXT, EXAMPLE, EXAMPLE_NO_IMAGE, IMAGE, SIMILAR_TEXT } from "./model-shapes.ts";

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
  const textModel = MODELS.embedText.id;
  return [
    { models: { text: textModel, image: "" }, text, image: image!, example: example! },
    { models: { text: textModel, image: null }, text, image: null, example: exampleWithoutImages! },
  ];
}

/** Replaces the entries of the same models; keeps the others after the new ones. */
export function mergeCalibrationEntries(
  fitted: readonly CalibrationEntry[],
  stored: readonly CalibrationEntry[],
): CalibrationEntry[] {
  const isReplaced = ({ models }: CalibrationEntry) =>
    fitted.some((one) => one.models.text === models.text && one.models.image === models.image);
  return [...fitted, ...stored.filter((entry) => !isReplaced(entry))];
}

/** Weighs hits so that a query with a hundred relevant hits doesn't outweigh a hundred with one. */
function weighExamples({ hits }: JudgedQuery): Example[] {
  const relevantCount = hits.filter(({ isRight }) => isRight).length;
  const weight = 1 / Math.sqrt(Math.max(1, relevantCount));
  return hits.map(({ signals, isRight }) => ({ signals, isRight, weight }));
}
