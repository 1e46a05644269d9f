export const FINDINGS = [
  "ingest_failed",
  "ingest_stuck",
  "source_missing",
  "source_truncated",
  "working_copy_missing",
  "facts_mismatch",
  "segment_count_mismatch",
  "keyframes_missing",
  "keyframes_undescribed",
  "sound_unrecognized",
  "signatures_missing",
  "transcript_missing",
  "transcript_mismatch",
  "fulltext_missing",
  "vectors_missing",
  "vectors_stale",
  "vectors_unexpected",
  "objects_unreferenced",
  "archive_outdated",
] as const;
export type FindingCode = (typeof FINDINGS)[number];

/** Findings about an index itself, beside those about its assets. */
export const INDEX_FINDINGS = [
  "records_missing",
  "totals_mismatch",
  "objects_orphaned",
  "segments_orphaned",
  "vectors_orphaned",
] as const;
export type IndexFindingCode = (typeof INDEX_FINDINGS)[number];

/** A difference between the records and the stored data. */
export interface Finding<Code = FindingCode> {
  code: Code;
  /** A sentence for the user. */
  message: string;
  /** Ids of the segments or vectors, or keys of the objects, concerned. */
  about: string[];
}

/**
 * Makes a finding about some ids or keys; none if there are none. `singular` and `plural` make its
 * message.
 */
export function findingAbout<Code extends FindingCode | IndexFindingCode>(
  code: Code,
  about: string[],
  singular: string,
  plural: (count: number) => string,
): Finding<Code>[] {
  if (about.length === 0) return [];
  return [{ code, message: about.length === 1 ? singular : plural(about.length), about }];
}
