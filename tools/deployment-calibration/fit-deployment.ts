import {
  type CalibrationEntry,
  type EmbeddingModels,
  relevanceProbability,
} from "../../src/search/fuse.ts";
import { fitTextCurve } from "../calibration/entries.ts";
import { refitEvidenceModels } from "../calibration/fit.ts";
import type { GeneratedArchive } from "../calibration/generated-archive.ts";
import { type JudgedQuery, weighExamples } from "../calibration/judgments.ts";
import { judgeQueries } from "../memory-search/judge-queries.ts";
import { MemoryIndex } from "../memory-search/memory-index.ts";
import { binForecasts, calibrationError } from "../reliability.ts";
import { type CosineRange, cosineRange, moveCosines } from "./cosine-range.ts";
import type { DrawingVectors } from "./material.ts";

/** Runs the queries of an archive by the service's own search. `name` names the text model. */
export async function judgeArchive(
  name: string,
  { segments, queries }: GeneratedArchive,
  texts: ReadonlyMap<string, ArrayLike<number>>,
): Promise<JudgedQuery[]> {
  const index = await MemoryIndex.open(name, segments, { texts, images: null });
  return judgeQueries(index, queries);
}

/**
 * Splits queries in halves: one to fit on, the other to measure. By fours, as every fourth asks for
 * what isn't there.
 */
export function splitQueries(queries: readonly JudgedQuery[]): [JudgedQuery[], JudgedQuery[]] {
  const half = (rest: number) => queries.filter((_, at) => Math.floor(at / 4) % 2 === rest);
  return [half(0), half(1)];
}

/**
 * How well the known entry tells what matching words say: it was fitted on texts that people wrote,
 * and words are the same with any model. docs/experiments/search.md has what was tried.
 */
const WORD_PRECISION = 10;
/** What depends on the model is known by the examples alone. */
const UNKNOWN = 0;

type TextEvidence = Pick<CalibrationEntry, "text" | "textCurve">;

/**
 * Fits the evidence models of text to judged queries, from those of other embedding models on, and
 * then the curve that corrects them.
 */
export function fitText(
  { text: [exactText, similarText] }: TextEvidence,
  queries: readonly JudgedQuery[],
): TextEvidence {
  const text = refitEvidenceModels(queries.flatMap(weighExamples), [
    { model: exactText!, precision: { bias: WORD_PRECISION, term_coverage: WORD_PRECISION } },
    {
      model: similarText!,
      precision: { bias: UNKNOWN, text_margin: UNKNOWN, bm25_normalized: WORD_PRECISION },
    },
  ]);
  return { text, textCurve: fitTextCurve(text, queries) };
}

/** Ranges of the offline engine's image model: drawings by captions, and by other drawings. */
const ENGINE_RANGES: Record<"captions" | "images", CosineRange> = {
  captions: { mean: 0.251, deviation: 0.109 },
  images: { mean: 0.547, deviation: 0.175 },
};

/**
 * Makes an entry of fitted evidence models of text. Drawings aren't like photos, so they only tell
 * in which range an image model's cosines lie: what these say is taken from the `known` entry of
 * the offline engine.
 */
export function makeEntry(
  about: { models: EmbeddingModels; source: string },
  known: CalibrationEntry,
  text: TextEvidence,
  { images, otherImages, captions }: DrawingVectors,
): CalibrationEntry {
  const { image, imageAlone, example } = known;
  const ofText = { ...about, ...text };
  if (!image || !imageAlone) return { ...ofText, image: null, imageAlone: null, example };
  const byCaption = cosineRange(captions, images);
  const byImage = cosineRange(otherImages, images);
  return {
    ...ofText,
    image: moveCosines(image, ENGINE_RANGES.captions, byCaption),
    imageAlone: moveCosines(imageAlone, ENGINE_RANGES.captions, byCaption),
    example: moveCosines(example, ENGINE_RANGES.images, byImage),
  };
}

/** Returns the expected calibration error of the first ten hits of text queries. */
export function textError(text: TextEvidence, queries: readonly JudgedQuery[]): number {
  const models = { ...text, visual: null };
  const forecasts = queries.flatMap(({ hits }) =>
    hits
      .map(({ signals, isRight }) => ({ score: relevanceProbability(signals, models), isRight }))
      .toSorted((a, b) => b.score - a.score)
      .slice(0, 10),
  );
  return calibrationError(binForecasts(forecasts));
}
