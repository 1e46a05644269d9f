import { MODELS } from "../config.ts";
import { TEMPLATE } from "../models/describe.ts";
import { hasImageEmbeddings } from "../models/embed-image.ts";
import { matchAll, matchAny, columnFilter, type FtsSearch } from "../store/fulltext.ts";
import { indexDatabases } from "../store/index-database.ts";
import { countInDatabases, type FoundSegment, findSegments } from "../store/find-segments.ts";
import type { Timings } from "../timings.ts";
import type { NamedIndexRef, Segment } from "../types.ts";
import calibrations from "./calibrations.json" with { type: "json" };
import { type ChannelHit, queryChannels, toFullTextHits } from "./channels.ts";
import type { CompiledQuery } from "./compiled-query.ts";
import { matchFields, type FieldMatch, termCoverage } from "./evidence.ts";
import { type CalibrationEntry, type EvidenceModel, relevanceProbability } from "./fuse.ts";
import { type HitAsset, toHitAsset } from "./hits.ts";
import type { SearchScope } from "./request.ts";
import { mergeSignals, type Signals } from "./signals.ts";

/** A segment that at least one channel found, scored. */
export interface Candidate extends Omit<FoundSegment, "asset"> {
  asset: HitAsset;
  channelHits: ChannelHit[];
  fieldMatches: FieldMatch[];
  signals: Signals;
  score: number;
  /** Hits requested from each channel in the pass that found the segment. */
  depth: number;
}

/**
 * Returns the scored segments among the best `depth` of each channel, in no order: those in scope,
 * with every phrase and no excluded term, and not in `excludedIds`.
 */
export async function findCandidates(
  env: Env,
  index: NamedIndexRef,
  scope: SearchScope,
  query: CompiledQuery,
  depth: number,
  excludedIds: ReadonlySet<string>,
  timings: Timings,
): Promise<{ candidates: Candidate[]; isExhaustive: boolean }> {
  const databases = indexDatabases(env, index);
  const fullText = toFtsSearch(query, scope, depth);
  const counting = countInDatabases(databases, fullText);
  counting.catch(() => {}); // awaited, and reported, once the channels have answered
  const vectors = await queryChannels(env, index, scope, query, depth, timings);
  const phrases = matchAll(query.phrases);
  const must = phrases && columnFilter(phrases, scope.columns);
  const { segments, fullTextHits, frequencies, total } = await timings.time("hydrate", () =>
    findSegments(
      databases,
      {
        scope: scope.assets,
        fullText,
        ids: vectors.hits.map(({ segmentId }) => segmentId),
        excludedIds: [...excludedIds],
        rules: { must, mustNot: matchAny(query.excluded) },
      },
      counting,
    ),
  );
  const termWeights = query.terms.weights(frequencies);
  const hits = [...toFullTextHits(fullTextHits, termWeights), ...vectors.hits];
  if (hits.length === 0 && vectors.outage) throw vectors.outage;
  const hitsBySegment = Map.groupBy(hits, ({ segmentId }) => segmentId);
  const models = selectEvidenceModels(env, query);
  const logPrior = -Math.log(Math.max(1, total));
  const candidates = segments.map((row): Candidate => {
    const channelHits = hitsBySegment.get(row.segment.segmentId)!;
    const asset = toHitAsset(row.asset, index);
    const fieldMatches = matchFields(row.segment, query.terms, scope);
    const combined = combineSignals(row.segment, channelHits, fieldMatches, termWeights);
    const signals = { ...combined, log_prior: logPrior };
    const score = relevanceProbability(signals, models);
    return Object.assign(row, { asset, channelHits, fieldMatches, signals, score, depth });
  });
  return { candidates, isExhaustive: vectors.isExhaustive && fullTextHits.length < depth };
}

/** Copies the fields that the index's database needs: a `CompiledQuery` can't be sent to it. */
function toFtsSearch(query: CompiledQuery, { columns }: SearchScope, limit: number): FtsSearch {
  const { words, phrases, excluded, terms } = query;
  return { query: { words, phrases, excluded }, tokens: terms.tokens, columns, limit };
}

type TermField = Omit<FieldMatch, "text">;

/**
 * Combines all signals of a segment. A template caption only lists detected labels: its terms count
 * as `label_coverage`, like those of box labels, and its embedding doesn't count. BM25 is at most
 * the term coverage.
 */
export function combineSignals(
  { captionModel }: Pick<Segment, "captionModel">,
  channelHits: readonly Pick<ChannelHit, "signals" | "evidence">[],
  fieldMatches: readonly TermField[],
  termWeights: readonly number[],
): Signals {
  const isTemplate = captionModel === TEMPLATE;
  const isLabel = ({ kind, isBoxLabels }: TermField) =>
    isBoxLabels || (isTemplate && (kind === "caption" || kind === "visual"));
  const isText = (match: TermField) => !isLabel(match);
  const labelCoverage = termCoverage(fieldMatches.filter(isLabel), termWeights);
  const coverage = termCoverage(fieldMatches.filter(isText), termWeights);
  const counted = channelHits.filter(
    ({ evidence }) => !(isTemplate && evidence?.kind === "caption"),
  );
  const { bm25_normalized = 0, ...signals } = mergeSignals(counted.map((hit) => hit.signals));
  return {
    ...signals,
    ...(coverage > 0 && {
      term_coverage: coverage,
      bm25_normalized: Math.min(coverage, bm25_normalized),
    }),
    ...(labelCoverage > 0 && { label_coverage: labelCoverage }),
  };
}

export const CALIBRATIONS: readonly CalibrationEntry[] = calibrations;

/** Weight of text signals in a query with an example: a copy outranks a match of text alone. */
const TEXT_WEIGHT_WITH_EXAMPLE = 0.5;

/**
 * Selects the evidence models fitted for the embedding models in use; the first fitted ones if
 * there are none. Text and example together ("this, but at night") become one model whose weights
 * add up.
 */
function selectEvidenceModels(
  env: Env,
  { plainText, example }: CompiledQuery,
): readonly EvidenceModel[] {
  const imageModel = hasImageEmbeddings(env) ? env.IMAGE_EMBEDDINGS_MODEL : null;
  const fitted = CALIBRATIONS.find(({ models }) => {
    return models.text === MODELS.embedText.id && models.image === imageModel;
  });
  const { text, image, example: exampleModel } = fitted ?? CALIBRATIONS[0]!;
  if (!example) return image ? [...text, image] : text;
  if (!plainText && example.textVector === null) return [exampleModel];
  const textWeights = text.flatMap(({ weights }) => Object.entries(weights));
  const reduced = textWeights.map(([signal, fit]) => {
    return [signal, { ...fit, weight: fit.weight * TEXT_WEIGHT_WITH_EXAMPLE }];
  });
  const weights = { ...Object.fromEntries(reduced), ...exampleModel.weights };
  return [{ bias: exampleModel.bias, weights }];
}
