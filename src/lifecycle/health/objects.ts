import { INGEST, LIFECYCLE } from "../../config.ts";
import { forEachKeyframe, storeKeyframe } from "../../ingest/extract-keyframes.ts";
import { remakeWorkingCopy } from "../../ingest/playback-copy.ts";
import { countWindows } from "../../ingest/segmentation/windows.ts";
import { refetchSourceFile } from "../../ingest/steps/fetch.ts";
import { countAudioChunks } from "../../ingest/transcript/audio-chunks.ts";
import type { SegmentHealth } from "../../store/health.ts";
import { indexDatabase } from "../../store/index-database/index-database.ts";
import { listSegmentsById } from "../../store/index-database/segments.ts";
import {
  archiveKey,
  asrKey,
  deleteObjectKeys,
  frameSignaturesKey,
  getKeyframe,
  keyframeKey,
  mediaKey,
  referenceFramesKey,
  sourceKey,
  storyboardKey,
  type StoredObject,
  transcriptKey,
} from "../../store/r2/object-keys.ts";
import { storyboardOf } from "../../storyboard.ts";
import type { Asset, Segment } from "../../types.ts";
import { type Finding, findingAbout } from "../findings.ts";
import type { Repair } from "../repair-context.ts";
import { inBatches } from "../slice.ts";

/**
 * Finds a missing or truncated source file, missing keyframes, and objects that no record refers
 * to. Objects younger than `LIFECYCLE.minOrphanAgeMs` are left out: a record may follow.
 */
export function inspectObjects(
  asset: Asset,
  segments: SegmentHealth[],
  objects: StoredObject[],
  now: number,
): Finding[] {
  const keys = new Set(objects.map(({ key }) => key));
  const withoutKeyframe = segments.filter(({ hasKeyframe, keyframeMs }) => {
    return hasKeyframe && !keys.has(keyframeKey(asset, keyframeMs));
  });
  const referenced = referencedKeys(asset, segments);
  const unreferenced = objects.filter(({ key, uploaded }) => {
    return !referenced.has(key) && now - uploaded.getTime() > LIFECYCLE.minOrphanAgeMs;
  });
  return [
    ...inspectSource(asset, objects),
    ...inspectWorkingCopy(asset, keys),
    ...findingAbout(
      "keyframes_missing",
      withoutKeyframe.map(({ segmentId }) => segmentId),
      "One segment has lost its keyframe.",
      (count) => `${count} segments have lost their keyframes.`,
    ),
    ...findingAbout(
      "objects_unreferenced",
      unreferenced.map(({ key }) => key),
      "No record refers to one stored object.",
      (count) => `No record refers to ${count} stored objects.`,
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

function inspectWorkingCopy(asset: Asset, keys: ReadonlySet<string>): Finding[] {
  if (mediaKey(asset) === sourceKey(asset) || keys.has(mediaKey(asset))) return [];
  const message = "The copy that is played is gone.";
  return [{ code: "working_copy_missing", message, about: [] }];
}

/** Returns the keys of all objects that a ready asset may have. */
function referencedKeys(asset: Asset, segments: SegmentHealth[]): Set<string> {
  return new Set([
    sourceKey(asset),
    mediaKey(asset),
    archiveKey(asset),
    ...(storyboardOf(asset) ? [storyboardKey(asset)] : []),
    transcriptKey(asset, asset.transcriptJobId),
    ...segments.map(({ keyframeMs }) => keyframeKey(asset, keyframeMs)),
    ...Array.from({ length: countAudioChunks(asset) }, (_, part) => asrKey(asset, part)),
    ...Array.from({ length: countWindows(asset) }, (_, part) => [
      referenceFramesKey(asset, part),
      frameSignaturesKey(asset, part),
    ]).flat(),
  ]);
}

/** Downloads the source file from its origin. Throws `source_missing` for an upload. */
export const refetchSource: Repair = async ({ env, asset }) => {
  await refetchSourceFile(env, asset);
  return null;
};

/** Makes the working copy again. Throws what `planConversion` throws. */
export const reconvert: Repair = async ({ env, asset, checkpoint }) => {
  await remakeWorkingCopy(env, asset, checkpoint);
  return null;
};

/** Extracts missing keyframes from the source file, and writes the signatures of all of them. */
export const reextractKeyframes: Repair = async ({ env, asset, checkpoint }, segmentIds) => {
  const segments = await listSegmentsById(indexDatabase(env, asset), asset.assetId, segmentIds);
  await inBatches(segments, INGEST.segmentsPerPart, checkpoint, async (batch) => {
    const missing = await restoreSignatures(env, asset, batch);
    await forEachKeyframe(env, asset, missing, async (segment, extract) => {
      await storeKeyframe(env, asset, segment, await extract());
    });
  });
  return null;
};

/** Writes the signatures of stored keyframes. Returns the segments without a keyframe. */
export async function restoreSignatures(
  env: Env,
  asset: Asset,
  segments: Segment[],
): Promise<Segment[]> {
  const withoutKeyframe: Segment[] = [];
  for (const segment of segments) {
    const jpeg = await getKeyframe(env.MEDIA, asset, segment.keyframeMs);
    if (jpeg) await storeKeyframe(env, asset, segment, jpeg);
    else withoutKeyframe.push(segment);
  }
  return withoutKeyframe;
}

export const deleteObjects: Repair = async ({ env }, keys) => {
  await deleteObjectKeys(env.MEDIA, keys);
  return null;
};
