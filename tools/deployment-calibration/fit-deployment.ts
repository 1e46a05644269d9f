import type { CalibrationEntry, EmbeddingModels } from "../../src/search/calibration-entry.ts";
import { selectEvidenceModels } from "../../src/search/calibration.ts";
import { type EvidenceModel, relevanceProbability, type Signal } from "../../src/search/fuse.ts";
import type { Hit } from "../../src/search/hits.ts";
import { type Example, type KnownModel, refitEvidenceModels } from "../calibration/fit.ts";
import type { GeneratedArchive } from "../calibration/generated-archive.ts";
import { type JudgedQuery, weighExamples } from "../calibration/judgments.ts";
import { MemoryIndex } from "../memory-search/memory-index.ts";
import { binForecasts, calibrationError } from "../reliability.ts";
import type { ArchiveVectors } from "./archive-vectors.ts";

/** Judged queries by kind. */
export interface JudgedArchive {
  text: JudgedQuery[];
  images: JudgedQuery[];
}

const DEPTH = 100;

/** Runs the queries of an archive by the service's own search. `name` names the models. */
export async function judgeArchive(
  name: string,
  archive: GeneratedArchive,
  vectors: ArchiveVectors,
): Promise<JudgedArchive> {
  const index = await MemoryIndex.open(name, archive.segments, vectors);
  const text: JudgedQuery[] = [];
  for (const { text: query, relevantIds } of archive.textQueries) {
    text.push(judge(await index.search({ query, topK: DEPTH }), relevantIds));
  }
  const images: JudgedQuery[] = [];
  for (const [at, vector] of vectors.imageQueries.entries()) {
    const hits = await index.search({ topK: DEPTH }, vector);
    images.push(judge(hits, archive.imageQueries[at]!.relevantIds));
  }
  return { text, images };
}

function judge(hits: readonly Hit[], relevantIds: ReadonlySet<string>): JudgedQuery {
  const judged = hits.map(({ signals, score, segment }) => {
    return { signals, score, isRight: relevantIds.has(segment.segmentId) };
  });
  return { hits: judged, relevantCount: relevantIds.size };
}

/**
 * Splits the queries in halves: one to fit on, the other to measure. By fours, as every fourth asks
 * for what isn't there.
 */
export function splitQueries({ text, images }: JudgedArchive): [JudgedArchive, JudgedArchive] {
  const isInHalf = (at: number, rest: number) => Math.floor(at / 4) % 2 === rest;
  const half = (rest: number) => ({
    text: text.filter((_, at) => isInHalf(at, rest)),
    images: images.filter((_, at) => isInHalf(at, rest)),
  });
  return [half(0), half(1)];
}

/**
 * How well the known entry tells what matching words say: it was fitted on texts that people wrote,
 * and words are the same with any model. docs/experiments/calibration.md has what was tried.
 */
const WORD_PRECISION = 10;
/** What depends on the models is known by the examples alone. */
const UNKNOWN = 0;

/**
 * Fits an entry for other embedding models. Labels and the prior of the scope size count as they do
 * in the entry that is `known`: the examples have none.
 */
export function fitDeploymentEntry(
  models: EmbeddingModels,
  source: string,
  known: CalibrationEntry,
  { text, images }: JudgedArchive,
): CalibrationEntry {
  const textExamples = text.flatMap(weighExamples);
  const imageExamples = images.flatMap(weighExamples);
  const [exactText, similarText] = known.text;
  const image = known.image && withThreshold(known.image, textExamples);
  const [fittedExact, fittedSimilar, fittedImage] = refitEvidenceModels(textExamples, [
    { model: exactText!, precision: { bias: WORD_PRECISION, term_coverage: WORD_PRECISION } },
    {
      model: similarText!,
      precision: { bias: UNKNOWN, text_margin: UNKNOWN, bm25_normalized: WORD_PRECISION },
    },
    ...(image ? [withUnknownCosines(image)] : []),
  ]);
  return {
    models,
    source,
    text: [fittedExact!, fittedSimilar!],
    image: fittedImage ?? null,
    example: image ? fitExample(known.example, imageExamples) : known.example,
  };
}

function withUnknownCosines(model: EvidenceModel): KnownModel {
  const precision = { bias: UNKNOWN, image_similarity: UNKNOWN, image_margin: UNKNOWN };
  return { model, precision };
}

/** Fits the model of queries by example. A perfect copy keeps its log odds. */
function fitExample(known: EvidenceModel, examples: readonly Example[]): EvidenceModel {
  const [fitted] = refitEvidenceModels(examples, [
    withUnknownCosines(withThreshold(known, examples)),
  ]);
  const copy = known.weights.copy_similarity!;
  const lost = Math.max(0, known.bias - fitted!.bias);
  const weight = copy.weight + lost / (1 - copy.threshold);
  return { ...fitted!, weights: { ...fitted!.weights, copy_similarity: { ...copy, weight } } };
}

/** Share of the hits whose cosine says nothing. */
const LOWEST_SHARE = 0.1;

/** Sets the threshold of cosines, whose range each model has for itself. */
function withThreshold(model: EvidenceModel, examples: readonly Example[]): EvidenceModel {
  const signal: Signal = "image_similarity";
  const cosines = examples
    .flatMap(({ signals }) => signals[signal] ?? [])
    .toSorted((a, b) => a - b);
  const threshold = cosines[Math.floor(cosines.length * LOWEST_SHARE)] ?? 0;
  const weights = { ...model.weights, [signal]: { ...model.weights[signal]!, threshold } };
  return { ...model, weights };
}

/** Returns the expected calibration error of each query's first ten hits, of text and of images. */
export function measureErrors(entry: CalibrationEntry, { text, images }: JudgedArchive) {
  const errorOf = (queries: readonly JudgedQuery[], models: readonly EvidenceModel[]) => {
    const forecasts = queries.flatMap(({ hits }) =>
      hits
        .map(({ signals, isRight }) => ({ score: relevanceProbability(signals, models), isRight }))
        .toSorted((a, b) => b.score - a.score)
        .slice(0, 10),
    );
    return calibrationError(binForecasts(forecasts));
  };
  const textModels = selectEvidenceModels(entry, { plainText: "text", example: null });
  return {
    text: errorOf(text, textModels),
    images: images.length > 0 ? errorOf(images, [entry.example]) : null,
  };
}
