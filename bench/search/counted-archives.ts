import type { CountedNumber, CountUnit } from "../../src/search/aggregate/counts.ts";
import { estimateCounts } from "../../src/search/aggregate/estimate-counts.ts";
import { parseGrouping } from "../../src/search/aggregate/group-keys.ts";
import type { Random } from "../../src/search/random-numbers.ts";
import { indexDatabases } from "../../src/store/index-database/index-database.ts";
import { sql } from "../../src/store/sql.ts";
import { Timings } from "../../src/timings.ts";
import { clusterAssets } from "../../tools/calibration/clustered-assets.ts";
import type { PhotoVectors } from "../../tools/calibration/photo-vectors.ts";
import {
  type ArchiveContents,
  type ArchivePhotos,
  type ArchiveSegment,
  createArchiveJudge,
  makeArchive,
  makeArchiveQueries,
} from "../../tools/calibration/sized-archive.ts";
import { prepareArchive } from "../../tools/memory-search/judge-archive.ts";
import { MemoryIndex } from "../../tools/memory-search/memory-index.ts";
import { readQueriesAboutNothing } from "./queries-about-nothing.ts";

/** What is counted, and by which groups. Cameras are those of whole assets. */
export const GROUPINGS = [
  { name: "segments by camera", groupBy: "metadata.camera", unit: "segments" },
  { name: "seconds by camera", groupBy: "metadata.camera", unit: "seconds" },
  { name: "assets by camera", groupBy: "metadata.camera", unit: "assets" },
  { name: "segments by asset", groupBy: "asset", unit: "segments" },
] as const satisfies { name: string; groupBy: string; unit: CountUnit }[];

const CAMERAS = ["A", "B", "C", "D", "E"];
const TOP = 20;
/** Share of the queries that are about nothing in an archive. */
const ABOUT_NOTHING = 0.1;

/** An estimated number, and the true one. */
export interface CountOutcome {
  name: (typeof GROUPINGS)[number]["name"];
  level: "total" | "group";
  contents: ArchiveContents;
  size: number;
  count: number;
  interval: [number, number];
  truth: number;
}

interface CountedArchive {
  contents: ArchiveContents;
  size: number;
  queries: number;
  photos: ArchivePhotos;
}

/** A segment with what groups it. */
type PlacedSegment = ArchiveSegment & { camera: string; seconds: number };

/** Counts what queries find in an archive by the service's own code, and compares the truth. */
export async function countArchive(
  { contents, size, queries: count, photos }: CountedArchive,
  vectors: PhotoVectors,
  random: Random,
  signal: AbortSignal,
): Promise<CountOutcome[]> {
  const made = makeArchive(photos, size, contents, random);
  const segments = clusterAssets(made, photos.captions, random).map((segment): PlacedSegment => {
    const camera =
      CAMERAS[segment.assetId.charCodeAt(segment.assetId.length - 1) % CAMERAS.length]!;
    return Object.assign(segment, { camera, seconds: 1 + (segment.position % 10) });
  });
  const others = (await readQueriesAboutNothing(photos))(segments)
    .slice(0, Math.ceil(ABOUT_NOTHING * count))
    .map((text) => ({ text, photo: null }));
  const queries = [...makeArchiveQueries(photos, segments, { count }, random), ...others];
  const archive = { captions: photos.captions, segments, queries };
  const prepared = await prepareArchive(archive, vectors, signal);
  const index = await MemoryIndex.open(`counted ${contents}`, segments, prepared.vectors);
  await placeSegments(index, segments);
  const judge = createArchiveJudge(photos.captions, segments);
  const outcomes: CountOutcome[] = [];
  for (const [at, query] of queries.entries()) {
    signal.throwIfAborted();
    const { relevantIds } = judge(query);
    const relevant = segments.filter(({ segmentId }) => relevantIds.has(segmentId));
    const { name, groupBy, unit } = GROUPINGS[at % GROUPINGS.length]!;
    const request = {
      query: query.text,
      correct: false,
      assetIds: [],
      conditions: [],
      modes: [],
      grouping: parseGrouping(groupBy)!,
      unit,
      top: TOP,
    };
    const { groups, total } = await index.use((env, ref) =>
      estimateCounts(env, ref, request, new Timings()),
    );
    const toOutcome = (
      level: CountOutcome["level"],
      { count: expected, interval }: CountedNumber,
      some: readonly PlacedSegment[],
    ): CountOutcome => {
      const truth = sumOf(some, unit);
      return { name, contents, size, level, count: expected, interval: interval!, truth };
    };
    outcomes.push(toOutcome("total", total, relevant));
    for (const group of groups) {
      const isIn = ({ camera, assetId }: PlacedSegment) =>
        group.key === camera || group.key === assetId;
      outcomes.push(toOutcome("group", group, relevant.filter(isIn)));
    }
  }
  return outcomes;
}

function sumOf(segments: readonly PlacedSegment[], unit: CountUnit): number {
  if (unit === "assets") return new Set(segments.map(({ assetId }) => assetId)).size;
  if (unit === "segments") return segments.length;
  return segments.reduce((sum, { seconds }) => sum + seconds, 0);
}

/** Stores the cameras of assets, and the times of segments. */
async function placeSegments(
  index: MemoryIndex,
  segments: readonly PlacedSegment[],
): Promise<void> {
  const rows = JSON.stringify(
    segments.map(({ segmentId, assetId, camera, seconds }) => ({
      segmentId,
      assetId,
      metadata: JSON.stringify({ camera }),
      ms: seconds * 1000,
    })),
  );
  await index.use(async (env, ref) => {
    await indexDatabases(env, ref)[0]!.batch([
      sql`UPDATE assets SET metadata = value ->> 'metadata' FROM json_each(${rows})
        WHERE asset_id = value ->> 'assetId'`,
      sql`UPDATE segments SET start_ms = 0, end_ms = value ->> 'ms' FROM json_each(${rows})
        WHERE segment_id = value ->> 'segmentId'`,
    ]);
  });
}
