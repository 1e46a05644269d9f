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
] as const;
export type FindingCode = (typeof FINDINGS)[number];

export const INDEX_FINDINGS = ["objects_orphaned", "segments_orphaned"] as const;
export type IndexFindingCode = (typeof INDEX_FINDINGS)[number];

export interface Finding<Code = FindingCode> {
  code: Code;
  message: string;
  /** Ids of the segments or vectors, or keys of the objects, concerned. */
  about: string[];
}

/** What a finding says of the ids or keys that it is about, before their number. */
const MESSAGES = {
  keyframes_missing: "Segments that have lost their keyframes",
  keyframes_undescribed: "Keyframes that aren't described",
  signatures_missing: "Segments that can't be found by a copy of their keyframes",
  transcript_mismatch: "Segments that don't have the transcript's text",
  fulltext_missing: "Segments that can't be found by their text",
  vectors_missing: "Vectors that are missing",
  vectors_stale: "Vectors of another model, or of an earlier text",
  vectors_unexpected: "Vectors of something that their segments don't have",
  objects_orphaned: "Stored objects that belong to no asset",
  segments_orphaned: "Assets without a record whose segments searches have",
} as const satisfies Partial<Record<FindingCode | IndexFindingCode, string>>;

export function findingAbout<Code extends keyof typeof MESSAGES>(code: Code, about: string[]) {
  if (about.length === 0) return [];
  return [{ code, message: `${MESSAGES[code]}: ${about.length}.`, about }];
}

/** Makes a finding about the asset or the index as a whole, unless `message` is null. */
export function finding<Code extends FindingCode | IndexFindingCode>(
  code: Code,
  message: string | null,
): Finding<Code>[] {
  return message === null ? [] : [{ code, message, about: [] }];
}
