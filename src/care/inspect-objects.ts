import { CARE } from "../config.ts";
import { countPieces } from "../ingest/pieces.ts";
import type { SegmentHealth } from "../store/health.ts";
import {
  heardKey,
  keyframeKey,
  sourceKey,
  type StoredObject,
  transcriptKey,
} from "../store/media.ts";
import type { Asset } from "../types.ts";
import { type Finding, findingAbout } from "./findings.ts";

/**
 * Whether storage has of an asset what it should, and nothing else: what has another name and is a day old
 * isn't about to be named by anything.
 */
export function inspectObjects(
  asset: Asset,
  segments: SegmentHealth[],
  objects: StoredObject[],
  now: number,
): Finding[] {
  const keys = new Set(objects.map(({ key }) => key));
  const lost = segments.filter(({ seen, keyframeMs }) => {
    return seen && !keys.has(keyframeKey(asset, keyframeMs));
  });
  const known = keysOf(asset, segments);
  const surplus = objects.filter(({ key, uploaded }) => {
    return !known.has(key) && now - uploaded.getTime() > CARE.strayMs;
  });
  return [
    ...inspectSource(asset, objects),
    ...findingAbout(
      "keyframes_missing",
      lost.map(({ segmentId }) => segmentId),
      "One segment has lost its keyframe.",
      (n) => `${n} segments have lost their keyframes.`,
    ),
    ...findingAbout(
      "objects_surplus",
      surplus.map(({ key }) => key),
      "One stored object belongs to nothing.",
      (n) => `${n} stored objects belong to nothing.`,
    ),
  ];
}

function inspectSource(asset: Asset, objects: StoredObject[]): Finding[] {
  const source = objects.find(({ key }) => key === sourceKey(asset));
  if (!source) return [{ code: "source_missing", message: "The stored file is gone.", about: [] }];
  if (source.size === asset.sizeBytes) return [];
  const message = `The stored file has ${source.size} of ${asset.sizeBytes} bytes.`;
  return [{ code: "source_truncated", message, about: [] }];
}

/** All that an asset that is ready may have. */
function keysOf(asset: Asset, segments: SegmentHealth[]): Set<string> {
  return new Set([
    sourceKey(asset),
    transcriptKey(asset, asset.transcriptJob),
    ...segments.map(({ keyframeMs }) => keyframeKey(asset, keyframeMs)),
    ...Array.from({ length: countPieces(asset) }, (_, part) => heardKey(asset, part)),
  ]);
}
