import type { SegmentId } from "../ids.ts";
import type { AssetScope } from "./asset-scope.ts";
import type { FtsSearch } from "./fulltext.ts";
import type { SqlRows } from "./sql.ts";

/** FTS5 expressions that a segment's text must match and must not match; null for none. */
interface MatchRules {
  must: string | null;
  mustNot: string | null;
}

/** What a search asks an index's database, in one call. */
export interface SegmentQuery {
  scope: AssetScope;
  /** The full-text search, whose hits need not match `rules`; null for none. */
  fullText: FtsSearch | null;
  /** Counts of the database and of its whole index, if that has several; else null. */
  counts: { database: TermCounts; index: TermCounts } | null;
  /** Segments that other channels have found. */
  ids: readonly string[];
  /** Segments whose rows aren't needed. */
  excludedIds: readonly string[];
  rules: MatchRules;
}

/** How many segments of a database, or of several, have the terms of a full-text search. */
export interface TermCounts {
  /** Segments, with or without text. */
  total: number;
  /** Segments with text. */
  withText: number;
  /** Segments that contain each of `termsOf`, in the columns that are searched. */
  matches: number[];
  /** Segments that contain a stem in any column; stems that none contains are left out. */
  stems: { stem: string; count: number }[];
}

/** The answer: rows of the full-text hits and of `ids`, those in scope that match the rules. */
export interface SegmentRows {
  /** The best full-text hits in scope, with their BM25, best first. */
  fullTextHits: FtsHit[];
  /** Counts of the database, for weights of the terms. */
  counts: Pick<TermCounts, "total" | "stems">;
  /** Segments in scope. */
  total: number;
  segments: SqlRows;
  assets: SqlRows;
}

export interface FtsHit {
  segmentId: SegmentId;
  /** Higher is better; about 0 if most segments contain the words. */
  bm25: number;
}
