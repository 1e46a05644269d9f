/** A transition in frame numbers: the last frame before it, and the first frame after it. */
export interface FrameTransition {
  kind: "cut" | "gradual";
  from: number;
  to: number;
}

/** Transitions that were found, falsely found, and missed. */
export interface DetectionCounts {
  hits: number;
  falseAlarms: number;
  misses: number;
}

const TOLERANCE_FRAMES = 2;

/**
 * Matches detected and annotated transitions of the same kind one to one, in order of time. A pair
 * must overlap after each end is moved by at most two frames (the protocol of Souček and Lokoč,
 * "TransNet V2", 2020, with a tolerance of 2 frames). `kind` null matches any kind.
 */
export function countDetections(
  truth: FrameTransition[],
  found: FrameTransition[],
  kind: FrameTransition["kind"] | null,
): DetectionCounts {
  const isOfKind = (transition: FrameTransition) => kind === null || transition.kind === kind;
  const unmatched = found.filter(isOfKind).toSorted((a, b) => a.from - b.from);
  const expected = truth.filter(isOfKind).toSorted((a, b) => a.from - b.from);
  let hits = 0;
  for (const { from, to } of expected) {
    const at = unmatched.findIndex(
      (candidate) =>
        candidate.from < to + TOLERANCE_FRAMES && candidate.to > from - TOLERANCE_FRAMES,
    );
    if (at === -1) continue;
    unmatched.splice(at, 1);
    hits++;
  }
  return { hits, falseAlarms: unmatched.length, misses: expected.length - hits };
}

export function addCounts(a: DetectionCounts, b: DetectionCounts): DetectionCounts {
  return {
    hits: a.hits + b.hits,
    falseAlarms: a.falseAlarms + b.falseAlarms,
    misses: a.misses + b.misses,
  };
}

/**
 * Returns F1, precision and recall; each is 1 if nothing was wrong, even if there was nothing to
 * find.
 */
export function toScores({ hits, falseAlarms, misses }: DetectionCounts) {
  const share = (errorCount: number) => (hits + errorCount === 0 ? 1 : hits / (hits + errorCount));
  return {
    f1: share((falseAlarms + misses) / 2),
    precision: share(falseAlarms),
    recall: share(misses),
  };
}
