export const FINDINGS = [
  "ingest_failed",
  "ingest_stuck",
  "source_missing",
  "source_truncated",
  "segments_miscounted",
  "keyframes_missing",
  "signatures_missing",
  "transcript_missing",
  "transcript_mismatched",
  "words_missing",
  "vectors_missing",
  "vectors_stale",
  "vectors_surplus",
  "objects_surplus",
] as const;
export type FindingCode = (typeof FINDINGS)[number];

/** Of an index, beside those of its assets. */
export const INDEX_FINDINGS = [
  "counts_wrong",
  "objects_orphaned",
  "words_orphaned",
  "signatures_orphaned",
  "vectors_orphaned",
] as const;
export type IndexFindingCode = (typeof INDEX_FINDINGS)[number];

/** Something that isn't as the records promise. */
export interface Finding<Code = FindingCode> {
  code: Code;
  /** A sentence for a person. */
  message: string;
  /** Ids of the segments or vectors, or keys of the objects, that it is about. */
  about: string[];
}

/** None where it is about nothing. `message` is a sentence about one and about more. */
export function findingAbout<Code extends FindingCode | IndexFindingCode>(
  code: Code,
  about: string[],
  one: string,
  more: (count: number) => string,
): Finding<Code>[] {
  if (about.length === 0) return [];
  return [{ code, message: about.length === 1 ? one : more(about.length), about }];
}
