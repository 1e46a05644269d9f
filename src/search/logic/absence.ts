import type { EvidenceKind } from "../../evidence-kind.ts";
import { TEMPLATE } from "../../models/describe.ts";
import { LOGIC } from "../../parameters.ts";
import type { FtsColumn } from "../../store/index-database/fulltext.ts";
import type { Segment } from "../../types.ts";
import { boxesForTerms } from "../boxes.ts";
import type { Evidence } from "../evidence.ts";
import type { Signals } from "../fuse.ts";
import type { CompiledQuery } from "../query.ts";
import type { SearchScope } from "../request.ts";
import { expectedProbability, scaleOdds } from "./probability.ts";

/** The fields of a segment that say what was examined of it. */
type ExaminedSegment = Pick<
  Segment,
  | "caption"
  | "captionModel"
  | "transcript"
  | "onScreenText"
  | "described"
  | "error"
  | "hasKeyframe"
  | "boxes"
>;

const KIND_OF_COLUMN: Record<FtsColumn, EvidenceKind> = {
  caption: "caption",
  transcript: "speech",
  on_screen_text: "text",
  labels: "visual",
};

/** Tests whether a detector or a model has described the keyframe, and whether it saw anything. */
function isDescribed({ described, error, hasKeyframe }: ExaminedSegment): boolean {
  return described && error === null && hasKeyframe;
}

/** Returns the kinds of evidence in scope that a segment has, whatever they say. */
export function examinedKinds(
  segment: ExaminedSegment,
  columns: readonly FtsColumn[],
  hasImageVector: boolean,
): EvidenceKind[] {
  const has: Record<FtsColumn, boolean> = {
    caption: segment.caption !== "" && segment.captionModel !== TEMPLATE,
    transcript: segment.transcript !== "",
    on_screen_text: segment.onScreenText !== "",
    labels: isDescribed(segment) || hasImageVector,
  };
  return columns.filter((column) => has[column]).map((column) => KIND_OF_COLUMN[column]);
}

/**
 * Tests whether a segment was examined enough to say that a thing isn't there: its image, if images
 * are in scope and it has one, or else any text.
 */
export function isExamined(
  { hasKeyframe }: Pick<ExaminedSegment, "hasKeyframe">,
  kinds: readonly EvidenceKind[],
  columns: readonly FtsColumn[],
): boolean {
  if (!hasKeyframe || !columns.includes("labels")) return kinds.length > 0;
  return kinds.includes("visual") || kinds.includes("caption");
}

/** A segment, as its probability of having a thing is corrected for `none`. */
export interface Presence {
  segment: ExaminedSegment;
  /** The calibrated score of the segment for the thing. */
  probability: number;
  signals: Signals;
  isExamined: boolean;
}

/** Share of the words of a thing above which labels name it: all of them, in any form. */
const ALL_WORDS = 0.99;

/**
 * Corrects the probabilities that segments have a thing, which are fitted to segments that were
 * found by it:
 * - A box that is named as the thing is as probable as its detector says.
 * - Where a detector has described the image without naming the thing, which it names in other
 *   segments, it is less probable: by the share of things that detectors miss.
 * - Where nothing was examined, it is as probable as in the other segments on average.
 */
export function correctPresences(
  presences: readonly Presence[],
  { labelWords }: Pick<CompiledQuery, "labelWords">,
  { columns }: Pick<SearchScope, "columns">,
): number[] {
  const usesLabels = columns.includes("labels");
  const named = ({ signals }: Presence) => signals.label_coverage ?? 0;
  const isKnownToDetectors = presences.some((presence) => named(presence) > ALL_WORDS);
  const corrected = presences.map((presence) => {
    const { segment, probability } = presence;
    if (!usesLabels || !isDescribed(segment)) return probability;
    if (named(presence) > ALL_WORDS) {
      const [best] = boxesForTerms(segment.boxes, labelWords);
      return Math.max(probability, best?.score ?? 0);
    }
    const isMissing = isKnownToDetectors && named(presence) === 0;
    return isMissing ? scaleOdds(probability, LOGIC.labelMissRate) : probability;
  });
  const expected = expectedProbability(corrected.filter((_, i) => presences[i]!.isExamined));
  return corrected.map((probability, i) => {
    return presences[i]!.isExamined ? probability : Math.max(probability, expected);
  });
}

/**
 * Returns the evidence of absence: each kind that was examined, with what speaks for presence, the
 * most first. A score of 0 says that nothing does.
 */
export function absenceEvidence(
  forPresence: readonly Evidence[],
  kinds: readonly EvidenceKind[],
): Evidence[] {
  const found = new Set(forPresence.map(({ kind }) => kind));
  const nothing = kinds.filter((kind) => !found.has(kind)).map((kind) => ({ kind, score: 0 }));
  return [...forPresence, ...nothing];
}
