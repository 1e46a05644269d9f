/** Where something is said or written. */
export interface Moment {
  /** As the asset's title. */
  file: string;
  /** Seconds; null of an image. */
  span: { start: number; end: number } | null;
}

/** A question, and what is known of its answer. */
export interface Case {
  /** Cases that are measured together. */
  set: string;
  question: string;
  /** Where it is answered; empty where nothing in the index does. */
  right: Moment[];
  /** Words that a right answer holds. */
  keys: string[];
}

/** A moment as the service tells of it. */
export interface Place {
  title: string;
  start_seconds: number | null;
  end_seconds: number | null;
}

/** Whether a moment is one of those, or overlaps one. */
export function isAmong({ title, start_seconds, end_seconds }: Place, moments: readonly Moment[]) {
  return moments.some(({ file, span }) => {
    if (file !== title) return false;
    return span === null || (start_seconds! < span.end && end_seconds! > span.start);
  });
}
