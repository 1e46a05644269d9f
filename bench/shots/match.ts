/** A transition in frames: the last one before it, the first one after it. */
export interface Span {
  kind: "cut" | "gradual";
  from: number;
  to: number;
}

/** How many were found, weren't there, and weren't found. */
export interface Tally {
  hits: number;
  falseAlarms: number;
  misses: number;
}

const TOLERANCE = 2;

/**
 * Pairs what was found with what is there, one to one, of the same kind, in order of time: a pair overlaps,
 * each end moved by two frames at most (the protocol of Souček and Lokoč, "TransNet V2", 2020, with a
 * tolerance of 2 frames).
 */
export function tally(truth: Span[], found: Span[], kind: Span["kind"] | null): Tally {
  const isAsked = (span: Span) => kind === null || span.kind === kind;
  const left = found.filter(isAsked).toSorted((a, b) => a.from - b.from);
  const sought = truth.filter(isAsked).toSorted((a, b) => a.from - b.from);
  let hits = 0;
  for (const { from, to } of sought) {
    const at = left.findIndex((one) => one.from < to + TOLERANCE && one.to > from - TOLERANCE);
    if (at === -1) continue;
    left.splice(at, 1);
    hits++;
  }
  return { hits, falseAlarms: left.length, misses: sought.length - hits };
}

export function add(a: Tally, b: Tally): Tally {
  return {
    hits: a.hits + b.hits,
    falseAlarms: a.falseAlarms + b.falseAlarms,
    misses: a.misses + b.misses,
  };
}

/** Each 1 where nothing was wrong, also where there was nothing to find. */
export function scores({ hits, falseAlarms, misses }: Tally) {
  const share = (wrong: number) => (hits + wrong === 0 ? 1 : hits / (hits + wrong));
  return {
    f1: share((falseAlarms + misses) / 2),
    precision: share(falseAlarms),
    recall: share(misses),
  };
}
