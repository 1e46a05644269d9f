import { MODELS } from "../config.ts";
import { fingerprint } from "../fingerprint.ts";
import { hasImageEmbeddings } from "../models/embed.ts";
import calibrations from "./calibrations.json" with { type: "json" };
import {
  type CalibrationEntry,
  type EmbeddingModels,
  type EvidenceModels,
  isEntryOf,
  nearestEntry,
} from "./fuse.ts";
import type { CompiledQuery } from "./query.ts";

/** Whether the parameters of scores were fitted on the embedding models in use, or on others. */
export const CALIBRATION_STATES = ["fitted", "borrowed"] as const;
export type CalibrationState = (typeof CALIBRATION_STATES)[number];

type ModelSettings = Pick<
  Env,
  "TEXT_EMBEDDINGS_MODEL" | "IMAGE_EMBEDDINGS_URL" | "IMAGE_EMBEDDINGS_MODEL"
>;

/** The entries, first those of the offline engine's models. */
export const CALIBRATIONS: readonly CalibrationEntry[] = calibrations;

export function embeddingModels(env: ModelSettings): EmbeddingModels {
  return {
    text: env.TEXT_EMBEDDINGS_MODEL || MODELS.embedText.id,
    image: hasImageEmbeddings(env) ? env.IMAGE_EMBEDDINGS_MODEL : null,
  };
}

export function calibrationState(env: ModelSettings): CalibrationState {
  const models = embeddingModels(env);
  return CALIBRATIONS.some((entry) => isEntryOf(entry, models)) ? "fitted" : "borrowed";
}

/** Names the parameters of a deployment's scores, in 48 bits. */
export function calibrationTag(env: ModelSettings): number {
  const entry = nearestEntry(CALIBRATIONS, embeddingModels(env));
  const parameters = [entry.text, entry.textCurve, entry.image, entry.imageAlone, entry.example];
  return Buffer.from(fingerprint(parameters), "base64url").readUIntBE(0, 6);
}

/** Weight of text signals in a query with an example: a copy outranks a match of text alone. */
const TEXT_WEIGHT_WITH_EXAMPLE = 0.5;

/**
 * Selects the evidence models of a query from an entry, for segments with text or without. Text and
 * example together ("this, but at night") become one model whose weights add up.
 */
export function selectEvidenceModels(
  { text, textCurve, image, imageAlone, example: exampleModel }: CalibrationEntry,
  { plainText, example }: Pick<CompiledQuery, "plainText" | "example">,
  hasText: boolean,
): EvidenceModels {
  if (!example) return { text, textCurve, visual: hasText ? image : imageAlone };
  const none = { text: [], textCurve: [] };
  if (!plainText && example.textVector === null) return { ...none, visual: exampleModel };
  const textWeights = text.flatMap(({ weights }) => Object.entries(weights));
  const reduced = textWeights.map(([signal, fit]) => {
    return [signal, { ...fit, weight: fit.weight * TEXT_WEIGHT_WITH_EXAMPLE }];
  });
  const weights = { ...Object.fromEntries(reduced), ...exampleModel.weights };
  return { ...none, visual: { bias: exampleModel.bias, weights } };
}
