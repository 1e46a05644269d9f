import type { FoundAsset } from "../store/index-database/find-segments.ts";
import { countFacets, type Facets, type GroupedSegment } from "../store/index-database/groups.ts";
import type { TimeRangeMs } from "../time-range.ts";
import type { Asset, BoundingBox, Mask, NamedIndexRef, Segment } from "../types.ts";
import type { Evidence } from "./evidence.ts";
import type { Signals } from "./fuse.ts";
import { uniqueWords } from "./query.ts";
import type { RankPosition, SearchRequest } from "./request.ts";

/** The asset of a hit, with what names its objects and its record. */
export type HitAsset = FoundAsset & Pick<Asset, "accountId" | "indexId" | "indexName">;

export function toHitAsset(asset: FoundAsset, index: NamedIndexRef): HitAsset {
  const { accountId, indexId, name: indexName } = index;
  return { ...asset, accountId, indexId, indexName };
}

export interface Hit {
  segment: Segment;
  asset: HitAsset;
  /** Position in the results, from 1. */
  rank: number;
  /** Probability that the segment is relevant, 0–1. */
  score: number;
  signals: Signals;
  evidence: Evidence[];
  /** The matching part of the video; null for the whole segment. */
  timeRange: TimeRangeMs | null;
  /** Ids of near-duplicates that were collapsed into this hit. */
  duplicates: string[];
  /** Boxes of what the query names (src/search/localization.ts); null unless requested. */
  boxes: BoundingBox[] | null;
  /** Mask of the first box's object; null unless requested, or if there is none. */
  mask: Mask | null;
  /** The steps of a sequence. The hit is then the first one, with the times of all. */
  steps?: HitStep[];
  /** How probable each condition of `all` and `none` is; absent without them. */
  conditions?: HitCondition[];
}

/** One of several things that a search asks for, and how probable it is. */
interface HitPart extends Pick<Hit, "evidence"> {
  /** The text, as it was searched for; null for an example. */
  query: string | null;
  /** Id of the segment or asset that is the example; null for a text. */
  similarTo: string | null;
  score: number;
}

/** A step of a sequence, and the segment that was found. */
export type HitStep = HitPart & Pick<Hit, "segment" | "boxes" | "mask">;

/**
 * A condition beside the query. That of `none` is met if it isn't there; its evidence is each kind
 * that was examined, with what speaks for presence: 0 for nothing.
 */
type HitCondition = HitPart & { kind: "all" | "none" };

interface Rankable extends NearDuplicateKey {
  asset: Pick<Asset, "assetId">;
  score: number;
  signals: Signals;
  depth: number;
}

/**
 * Sorts candidates by depth, then by score, then by id, so that pages are stable. Collapses
 * near-duplicates and groups by asset as requested. Copies of the example are never collapsed: they
 * are what the search is for.
 */
export function rankCandidates<T extends Rankable>(
  candidates: readonly T[],
  { collapse, groupBy }: Pick<SearchRequest, "collapse" | "groupBy">,
): ({ candidate: T } & Pick<Hit, "duplicates">)[] {
  const sorted = candidates.toSorted(
    (a, b) =>
      a.depth - b.depth ||
      b.score - a.score ||
      (a.segment.segmentId < b.segment.segmentId ? -1 : 1),
  );
  const isExempt = ({ signals }: T) => !collapse || signals.copy_similarity !== undefined;
  const collapsed = collapseNearDuplicates(sorted, isExempt);
  if (groupBy === "segment") return collapsed;
  const ranked = new Set<string>();
  return collapsed.filter(({ candidate: { asset } }) => {
    return !ranked.has(asset.assetId) && ranked.add(asset.assetId);
  });
}

export interface RankedCandidate {
  candidate: Rankable & GroupedSegment;
}

/** Last hits of a page that its position names. */
const POSITION_HITS = 3;

/** Returns the index of the first hit behind a position. */
export function findPosition(
  ranked: readonly { candidate: Rankable }[],
  after: RankPosition | null,
): number {
  if (after === null) return 0;
  for (const id of after.segmentIds) {
    const at = ranked.findIndex(({ candidate }) => candidate.segment.segmentId === id);
    if (at >= 0) return at + 1;
  }
  const { depth, score } = after;
  const lastId = after.segmentIds[0] ?? "";
  const at = ranked.findIndex(({ candidate }) => {
    if (candidate.depth !== depth) return candidate.depth > depth;
    if (candidate.score !== score) return candidate.score < score;
    return candidate.segment.segmentId > lastId;
  });
  return at < 0 ? ranked.length : at;
}

type PageOptions = Pick<SearchRequest, "topP" | "topK" | "after" | "facetNames">;

/** Returns a page of the hits of at least `topP`, their number, and where the next page begins. */
export function takePage<T extends RankedCandidate>(
  ranked: readonly T[],
  { topP, topK, after, facetNames }: PageOptions,
): { selected: T[]; total: number; next: RankPosition | null; facets: Facets } {
  const relevant = ranked.filter(({ candidate }) => candidate.score >= topP);
  const from = findPosition(relevant, after);
  const selected = relevant.slice(from, from + topK);
  const next = from + topK < relevant.length ? positionAfter(selected) : null;
  const facets = countFacets(
    facetNames,
    relevant.map(({ candidate }) => candidate),
  );
  return { selected, total: relevant.length, next, facets };
}

/** Returns the position behind the hits of a page; null without any. */
export function positionAfter(page: readonly { candidate: Rankable }[]): RankPosition | null {
  const last = page.at(-1);
  if (!last) return null;
  const segmentIds = page
    .slice(-POSITION_HITS)
    .map(({ candidate }) => candidate.segment.segmentId)
    .toReversed();
  return { segmentIds, depth: last.candidate.depth, score: last.candidate.score };
}

export interface NearDuplicateKey {
  segment: Pick<Segment, "segmentId" | "transcript" | "onScreenText">;
  /** Perceptual hash of the keyframe, 40 bits in two numbers; null if it is flat or unknown. */
  keyframeHash: readonly number[] | null;
}

/** Maximum Hamming distance of the hashes of near-duplicates, of 40 bits. */
const MAX_DIFFERENT_BITS = 2;
/** Minimum Jaccard index of the words of near-duplicates. */
const MIN_JACCARD = 0.8;

/**
 * Collapses near-duplicates into the first of them: candidates whose keyframes, speech and
 * on-screen text are nearly equal. `isExempt` candidates are never collapsed.
 */
export function collapseNearDuplicates<T extends NearDuplicateKey>(
  candidates: readonly T[],
  isExempt: (candidate: T) => boolean,
): { candidate: T; duplicates: string[] }[] {
  const unique: { candidate: T; duplicates: string[] }[] = [];
  const wordSets = new Map<T, Set<string>>();
  const wordSetOf = (candidate: T) => {
    const { transcript, onScreenText } = candidate.segment;
    const known = wordSets.get(candidate);
    const words = known ?? new Set(uniqueWords(`${transcript} ${onScreenText}`));
    wordSets.set(candidate, words);
    return words;
  };
  for (const candidate of candidates) {
    const isNearDuplicate = ({ candidate: earlier }: { candidate: T }) =>
      isSimilarHash(earlier.keyframeHash, candidate.keyframeHash) &&
      isSimilarText(wordSetOf(earlier), wordSetOf(candidate));
    const first = isExempt(candidate) ? undefined : unique.find(isNearDuplicate);
    if (first) first.duplicates.push(candidate.segment.segmentId);
    else unique.push({ candidate, duplicates: [] });
  }
  return unique;
}

type KeyframeHash = NearDuplicateKey["keyframeHash"];

function isSimilarHash(a: KeyframeHash, b: KeyframeHash): boolean {
  if (a === null || a.length !== b?.length) return false;
  const distance = a.reduce((bits, part, i) => bits + countBits(part ^ b[i]!), 0);
  return distance <= MAX_DIFFERENT_BITS;
}

function countBits(value: number): number {
  let bits = 0;
  for (let rest = value; rest !== 0; rest &= rest - 1) bits++;
  return bits;
}

function isSimilarText(a: Set<string>, b: Set<string>): boolean {
  const shared = [...a].filter((word) => b.has(word)).length;
  const union = a.size + b.size - shared;
  return union === 0 || shared / union >= MIN_JACCARD;
}
