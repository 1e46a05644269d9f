import type { Random } from "../../src/search/random-numbers.ts";
import { syntheticId } from "../segment-batch.ts";
import { stemsOf } from "./relevance.ts";
import type { ArchiveSegment } from "./sized-archive.ts";

/** Numbers of segments of an asset. */
const LENGTHS = [1, 4, 12, 30];
/** Share of the segments of an asset that are the most like its first one. */
const SIMILAR_SHARE = 0.6;

/**
 * Distributes segments over assets of different lengths, most of whose segments are about similar
 * photos: a video shows a thing more than once. Similarity is the Jaccard index of captions' stems.
 */
export function clusterAssets(
  segments: readonly ArchiveSegment[],
  captions: readonly (readonly string[])[],
  random: Random,
): ArchiveSegment[] {
  const stems = segments.map(({ photos }) => stemsOf(captions[photos[0]!]!));
  const left = new Set(segments.keys());
  const clustered: ArchiveSegment[] = [];
  const takeAny = () => {
    const at = [...left][Math.floor(random() * left.size)]!;
    left.delete(at);
    return at;
  };
  for (let asset = 0; left.size > 0; asset++) {
    const length = LENGTHS[Math.floor(random() * LENGTHS.length)]!;
    const first = takeAny();
    const similar = [...left].toSorted(
      (a, b) => jaccard(stems[first]!, stems[b]!) - jaccard(stems[first]!, stems[a]!),
    );
    const members = [first];
    while (members.length < length && left.size > 0) {
      if (random() >= SIMILAR_SHARE) members.push(takeAny());
      else {
        const next = similar.find((at) => left.has(at))!;
        left.delete(next);
        members.push(next);
      }
    }
    const assetId = syntheticId("vid", asset);
    clustered.push(
      ...members.map((at, position) => Object.assign({}, segments[at]!, { assetId, position })),
    );
  }
  return clustered;
}

function jaccard(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  const shared = [...a].filter((one) => b.has(one)).length;
  return shared / (a.size + b.size - shared);
}
