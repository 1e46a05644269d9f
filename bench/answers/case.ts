/** A file, or a time range of a video, that states a fact. */
export interface Moment {
  /** Title of the asset. */
  file: string;
  /** Time range in seconds; null for an image. */
  range: { start: number; end: number } | null;
}

/** A question, and what a right answer must contain. */
export interface AnswerCase {
  /** Name of the group that is measured together. */
  set: string;
  question: string;
  /** Moments that answer the question; empty if nothing in the index does. */
  right: Moment[];
  /** Words that a right answer contains. */
  keys: string[];
}

/** Title and time range of a citation or hit, as in the API. */
export interface TitledRange {
  title: string;
  start_seconds: number | null;
  end_seconds: number | null;
}

/** Returns whether a citation or hit is one of the moments or overlaps one. */
export function overlapsAny(
  { title, start_seconds, end_seconds }: TitledRange,
  moments: readonly Moment[],
) {
  return moments.some(({ file, range }) => {
    if (file !== title) return false;
    return range === null || (start_seconds! < range.end && end_seconds! > range.start);
  });
}
