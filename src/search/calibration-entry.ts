import type { EvidenceModel } from "./fuse.ts";
import type { LogOddsCurve } from "./log-odds-curve.ts";

/** Ids of the embedding models that signals come from. */
export interface EmbeddingModels {
  /** `TEXT_EMBEDDINGS_MODEL`, or without it `MODELS.embedText.id`. */
  text: string;
  /** `IMAGE_EMBEDDINGS_MODEL`, which may be empty; null without image embeddings. */
  image: string | null;
}

/** Evidence models that were fitted for one combination of embedding models. */
export interface CalibrationEntry {
  models: EmbeddingModels;
  /** What the parameters were fitted on. */
  source: string;
  /** For text queries: matched terms, and text embeddings. */
  text: readonly EvidenceModel[];
  /** Corrects what all models of `text` say together. */
  textCurve: LogOddsCurve;
  /** For text queries: image embeddings; null without them. */
  image: EvidenceModel | null;
  /** The same where hardly a segment has text: the images alone tell what is relevant. */
  imageAlone: EvidenceModel | null;
  /** For queries by example. */
  example: EvidenceModel;
}

/** Tests whether an entry was fitted on these models. */
export function isEntryOf({ models }: CalibrationEntry, { text, image }: EmbeddingModels): boolean {
  return models.text === text && models.image === image;
}

/**
 * Returns the entry that is nearest to the models: if possible with image embeddings as they have
 * them, then of the same text model, then of the same image model. The first of equally near ones.
 */
export function nearestEntry(
  entries: readonly CalibrationEntry[],
  { text, image }: EmbeddingModels,
): CalibrationEntry {
  const nearness = ({ models }: CalibrationEntry) =>
    4 * Number((models.image === null) === (image === null)) +
    2 * Number(models.text === text) +
    Number(models.image === image);
  const highest = Math.max(...entries.map(nearness));
  return entries.find((entry) => nearness(entry) === highest)!;
}
