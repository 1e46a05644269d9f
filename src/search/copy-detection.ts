import type { AssetId } from "../ids.ts";
import { computeQuerySignature } from "../media/pixels/image-signature.ts";
import { lumaPixels } from "../media/pixels/jpeg.ts";
import {
  dot,
  registerImage,
  type Registration,
  sampleArea,
  toImageViews,
  WHOLE,
} from "../media/pixels/registration.ts";
import {
  cropLetterbox,
  type TimedThumbnail,
  toThumbnails,
  type SampledFrame,
} from "../media/shots/contact-sheet.ts";
import { COPY_DETECTION, SIGNATURE } from "../parameters.ts";
import { indexDatabases } from "../store/index-database/index-database.ts";
import { type AssetTimeRangeMs, listSegmentsAt } from "../store/index-database/segments.ts";
import { findSignatures, type SignatureMatch } from "../store/index-database/signatures.ts";
import { listReferenceFrames, type ReferenceFrames } from "../store/r2/reference-frames.ts";
import type { TimeRange } from "../time-range.ts";
import type { IndexRef } from "../types.ts";
import type { CopyMatch } from "./query.ts";
import {
  alignTemporally,
  type FrameMatch,
  SPEED,
  type TemporalAlignment,
} from "./temporal-alignment.ts";

/** A query frame with the stored frames that share hashes with it. */
interface FrameQuery {
  seconds: number;
  matches: SignatureMatch[];
}

/** A stored video that may show the query. */
interface CandidateVideo {
  assetId: AssetId;
  frameMatches: (FrameMatch & { similarity: number })[];
}

/** Finds copies of an image, edited or not, by its signature, most similar first. */
export async function findImageCopies(
  env: Env,
  index: IndexRef,
  jpeg: Uint8Array,
): Promise<CopyMatch[]> {
  const luma = await lumaPixels(jpeg);
  const query = computeQuerySignature(luma);
  const [matches] = await findSignatures(indexDatabases(env, index), [query]);
  return bestPerSegment(
    matches!.filter(({ similarity }) => similarity >= SIGNATURE.minCopySimilarity),
  );
}

/**
 * Finds copies of a clip, most similar first. Signatures of distinct query frames vote for videos;
 * temporal alignment with their reference frames finds the time range from the first sampled range
 * to the last. Images, and videos without reference frames, are found by signature alone, without
 * times.
 */
export async function findVideoCopies(
  env: Env,
  index: IndexRef,
  sampledRanges: TimeRange[],
  queryFrames: SampledFrame[],
): Promise<CopyMatch[]> {
  const queryRange = { start: sampledRanges[0]!.start, end: sampledRanges.at(-1)!.end };
  const thumbnails = toThumbnails(queryFrames);
  const cropped = cropLetterbox(queryFrames);
  const databases = indexDatabases(env, index);
  const lookups = selectDistinctFrames(thumbnails).map((i) => queryFrames[i]!);
  const signatures = lookups.map(({ luma }) => computeQuerySignature(luma));
  const matches = await findSignatures(databases, signatures);
  const queries = lookups.map(({ seconds }, i): FrameQuery => ({ seconds, matches: matches[i]! }));
  const aligned: (AssetTimeRangeMs & { similarity: number })[] = [];
  const withReferenceFrames = new Set<string>();
  for (const candidate of selectCandidateVideos(queries)) {
    const { assetId, frameMatches } = candidate;
    const ranges = candidateRanges(candidate, sampledRanges);
    const referenceFrames = toTimedThumbnails(await listReferenceFrames(env.MEDIA, index, ranges));
    if (referenceFrames.length > 0) withReferenceFrames.add(assetId);
    const variants = cropped ? [thumbnails, cropped] : [thumbnails];
    const alignments = alignVideo(queryRange, variants, referenceFrames, frameMatches);
    for (const { start, end, similarity } of alignments) {
      const [startMs, endMs] = [Math.max(0, Math.round(start * 1000)), Math.round(end * 1000)];
      aligned.push({ assetId, startMs, endMs, similarity });
    }
  }
  const untimed = queries
    .flatMap(({ matches }) => matches)
    .filter(({ assetId, similarity }) => {
      return similarity >= SIGNATURE.minCopySimilarity && !withReferenceFrames.has(assetId);
    })
    .toSorted((a, b) => b.similarity - a.similarity);
  const segments = await listSegmentsAt(databases, aligned);
  const timed = aligned.flatMap(({ startMs, endMs, similarity }, i): CopyMatch[] => {
    const segment = segments[i];
    if (!segment) return [];
    const { segmentId, assetEndMs } = segment;
    const timeRange = { startMs, endMs: Math.min(endMs, assetEndMs) };
    return [{ segmentId, similarity: round(toImageScale(similarity)), timeRange }];
  });
  return timed.concat(bestPerSegment(untimed)).toSorted((a, b) => b.similarity - a.similarity);
}

/** Returns the first match of each segment; matches are sorted by similarity. */
function bestPerSegment(matches: SignatureMatch[]): CopyMatch[] {
  const best = new Map<string, CopyMatch>();
  for (const { segmentId, similarity } of matches) {
    if (!best.has(segmentId)) best.set(segmentId, { segmentId, similarity, timeRange: null });
  }
  return [...best.values()];
}

/** Selects at most `COPY_DETECTION.maxLookupFrames` evenly spaced, dissimilar frames, by index. */
function selectDistinctFrames(queryFrames: TimedThumbnail[]): number[] {
  const samples = queryFrames.map(({ lumaThumbnail }) =>
    sampleArea(lumaThumbnail, WHOLE, COPY_DETECTION.thumbnailSide),
  );
  const selected: number[] = [];
  for (let i = 0; i < COPY_DETECTION.maxLookupFrames; i++) {
    const at = Math.floor(((i + 0.5) * queryFrames.length) / COPY_DETECTION.maxLookupFrames);
    const frame = samples[at];
    const isDistinct = (other: number) =>
      dot(samples[other]!, frame!) < COPY_DETECTION.maxLookupCorrelation;
    if (frame && selected.every(isDistinct)) selected.push(at);
  }
  return selected;
}

/** Ranks videos by the votes of query frames; only a query frame's best match in a video votes. */
function selectCandidateVideos(queries: FrameQuery[]): CandidateVideo[] {
  const all = queries.flatMap(({ seconds, matches }) =>
    matches.flatMap(({ assetId, ms, similarity }) =>
      ms === null || similarity < COPY_DETECTION.minMatchSimilarity
        ? []
        : [{ assetId, querySeconds: seconds, referenceSeconds: ms / 1000, similarity }],
    ),
  );
  return [...Map.groupBy(all, ({ assetId }) => assetId)]
    .map(([assetId, matches]) => {
      const bestByFrame = new Map<number, number>();
      for (const { querySeconds, similarity } of matches) {
        const best = bestByFrame.get(querySeconds) ?? 0;
        bestByFrame.set(querySeconds, Math.max(similarity, best));
      }
      const votes = [...bestByFrame.values()].reduce((sum, value) => sum + value ** 4, 0);
      const sorted = matches.toSorted((a, b) => b.similarity - a.similarity);
      return { assetId, frameMatches: sorted.slice(0, COPY_DETECTION.maxFrameMatches), votes };
    })
    .toSorted((a, b) => b.votes - a.votes)
    .slice(0, COPY_DETECTION.maxVideos);
}

/**
 * Predicts the time ranges of a video that an alignment through one of its frame matches may cover:
 * the most similar matches first, up to `COPY_DETECTION.maxReferenceSeconds`.
 */
function candidateRanges(
  { assetId, frameMatches }: CandidateVideo,
  sampledRanges: TimeRange[],
): AssetTimeRangeMs[] {
  const margin = COPY_DETECTION.rangeMarginSeconds;
  let ranges: TimeRange[] = [];
  for (const { querySeconds, referenceSeconds } of frameMatches) {
    const predicted = sampledRanges.map(({ start, end }): TimeRange => {
      const [before, after] = [start - querySeconds, end - querySeconds];
      const first = Math.min(SPEED.min * before, SPEED.max * before);
      const last = Math.max(SPEED.min * after, SPEED.max * after);
      return { start: referenceSeconds + first - margin, end: referenceSeconds + last + margin };
    });
    const merged = mergeRanges([...ranges, ...predicted]);
    const seconds = merged.reduce((sum, { start, end }) => sum + end - start, 0);
    if (ranges.length > 0 && seconds > COPY_DETECTION.maxReferenceSeconds) break;
    ranges = merged;
  }
  return ranges.map(({ start, end }) => {
    return { assetId, startMs: Math.floor(start * 1000), endMs: Math.ceil(end * 1000) };
  });
}

/** Sorts and merges ranges close enough to share a window, so that no window is read twice. */
function mergeRanges(ranges: TimeRange[]): TimeRange[] {
  const merged: TimeRange[] = [];
  for (const { start, end } of ranges.toSorted((a, b) => a.start - b.start)) {
    const last = merged.at(-1);
    const isClose = last && start <= last.end + COPY_DETECTION.mergeGapSeconds;
    if (isClose) last.end = Math.max(last.end, end);
    else merged.push({ start, end });
  }
  return merged;
}

function toTimedThumbnails(rows: ReferenceFrames[]): TimedThumbnail[] {
  const length = COPY_DETECTION.thumbnailSide ** 2;
  return rows.flatMap(({ times, lumaThumbnails }) =>
    times.map((ms, i) => {
      const lumaThumbnail = lumaThumbnails.subarray(i * length, (i + 1) * length);
      return { seconds: ms / 1000, lumaThumbnail };
    }),
  );
}

/** Aligns the variant of the query frames, with or without black bars, that registers best. */
function alignVideo(
  queryRange: TimeRange,
  variants: TimedThumbnail[][],
  referenceFrames: TimedThumbnail[],
  frameMatches: FrameMatch[],
): TemporalAlignment[] {
  const registered = variants.flatMap((queryFrames) =>
    registerMatches(queryFrames, referenceFrames, frameMatches).map((registration) => {
      return { queryFrames, registration };
    }),
  );
  if (registered.length === 0) return [];
  const { queryFrames, registration } = registered.reduce((a, b) =>
    b.registration.correlation > a.registration.correlation ? b : a,
  );
  const alignments = alignTemporally(
    queryRange,
    queryFrames,
    referenceFrames,
    registration,
    frameMatches,
  );
  return alignments.filter(({ similarity }) => similarity >= COPY_DETECTION.minCopySimilarity);
}

/** Registers matched query frames with the reference frames within a second of the match. */
function registerMatches(
  queryFrames: TimedThumbnail[],
  referenceFrames: TimedThumbnail[],
  frameMatches: FrameMatch[],
): Registration[] {
  const matches = frameMatches.slice(0, COPY_DETECTION.maxRegisteredMatches);
  return matches.flatMap(({ querySeconds, referenceSeconds }) => {
    const queryFrame = queryFrames.find(({ seconds }) => seconds === querySeconds);
    if (!queryFrame) return [];
    const views = toImageViews(queryFrame.lumaThumbnail);
    return referenceFrames
      .filter(({ seconds }) => Math.abs(seconds - referenceSeconds) <= 1)
      .map(({ lumaThumbnail }) => registerImage(views, lumaThumbnail));
  });
}

/** Maps a video similarity to the scale of images, so that both thresholds for a copy coincide. */
function toImageScale(similarity: number): number {
  const share =
    (similarity - COPY_DETECTION.minCopySimilarity) / (1 - COPY_DETECTION.minCopySimilarity);
  return SIGNATURE.minCopySimilarity + share * (1 - SIGNATURE.minCopySimilarity);
}

function round(value: number): number {
  return Math.round(value * 1000) / 1000;
}
