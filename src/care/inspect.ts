import { CARE, MODELS } from "../config.ts";
import { listSegmentHealth, type SegmentHealth } from "../store/health.ts";
import { keyframeKey, keyframePrefix, listKeys, sourceKey, transcriptKey } from "../store/media.ts";
import { getTranscript } from "../store/transcripts.ts";
import { listVectorModels, vectorId } from "../store/vectors.ts";
import { type Asset, TEXT_KINDS } from "../types.ts";

export const FINDINGS = [
  "ingest_failed",
  "ingest_stuck",
  "source_missing",
  "source_truncated",
  "segments_miscounted",
  "keyframes_missing",
  "transcript_missing",
  "transcript_unused",
  "words_missing",
  "vectors_missing",
  "vectors_stale",
] as const;

/** Something about an asset that isn't as its record promises. */
export interface Finding {
  code: (typeof FINDINGS)[number];
  /** A sentence for a person. */
  message: string;
}

/**
 * Compares an asset's record with what D1, R2 and Vectorize hold of it. Changes nothing. Of one that is
 * still being ingested only whether it gets on.
 */
export async function inspect(env: Env, asset: Asset, now: number): Promise<Finding[]> {
  if (asset.state === "failed") {
    return [{ code: "ingest_failed", message: asset.error?.message ?? "The ingest failed." }];
  }
  if (asset.state !== "ready") {
    const minutes = Math.floor((now - asset.updatedAt) / 60_000);
    if (now - asset.updatedAt < CARE.stuckMs) return [];
    return [{ code: "ingest_stuck", message: `Nothing was heard of it for ${minutes} minutes.` }];
  }
  const segments = await listSegmentHealth(env.DB, asset.assetId);
  const found = await Promise.all([
    inspectSource(env, asset),
    inspectKeyframes(env, asset, segments),
    inspectTranscript(env, asset, segments),
    inspectVectors(env.TEXT_VECTORS, segments, textVectors),
    inspectVectors(env.PICTURE_VECTORS, segments, pictureVectors),
  ]);
  return [...inspectRows(asset, segments), ...found.flat()];
}

async function inspectSource({ MEDIA }: Env, asset: Asset): Promise<Finding[]> {
  const head = await MEDIA.head(sourceKey(asset));
  if (!head) return [{ code: "source_missing", message: "The stored file is gone." }];
  if (head.size === asset.sizeBytes) return [];
  const message = `The stored file has ${head.size} of ${asset.sizeBytes} bytes.`;
  return [{ code: "source_truncated", message }];
}

function inspectRows(asset: Asset, segments: SegmentHealth[]): Finding[] {
  const findings: Finding[] = [];
  if (segments.length !== asset.segments) {
    const message = `The record says ${asset.segments} segments; there are ${segments.length}.`;
    findings.push({ code: "segments_miscounted", message });
  }
  const silent = segments.filter((one) => hasWords(one) && !one.indexed);
  return findings.concat(count("words_missing", silent.length, "can't be found by its words"));
}

async function inspectKeyframes(
  { MEDIA }: Env,
  asset: Asset,
  segments: SegmentHealth[],
): Promise<Finding[]> {
  const keys = new Set(await listKeys(MEDIA, keyframePrefix(asset)));
  const lost = segments.filter(({ seen, keyframeMs }) => {
    return seen && !keys.has(keyframeKey(asset, keyframeMs));
  });
  return count("keyframes_missing", lost.length, "has lost its keyframe");
}

async function inspectTranscript(
  { DB, MEDIA }: Env,
  asset: Asset,
  segments: SegmentHealth[],
): Promise<Finding[]> {
  const transcript = await getTranscript(DB, asset.assetId);
  if (!transcript || transcript.cues === 0) return [];
  if (!(await MEDIA.head(transcriptKey(asset, asset.transcriptJob)))) {
    return [{ code: "transcript_missing", message: "The stored transcript is gone." }];
  }
  if (segments.some(({ speech }) => speech)) return [];
  const message = `None of the transcript's ${transcript.cues} cues is in any segment.`;
  return [{ code: "transcript_unused", message }];
}

/** The vectors that a segment should have, and the model that should have made them; null for any. */
interface Expected {
  ids: string[];
  model: string | null;
}

function textVectors(segment: SegmentHealth): Expected {
  const has = { caption: segment.caption, speech: segment.speech, text: segment.text };
  const kinds = TEXT_KINDS.filter((kind) => has[kind]);
  const ids = kinds.map((kind) => vectorId(segment.segmentId, kind));
  return { ids, model: MODELS.embedText.id };
}

/** The picture space's model names itself: which is the present one shows only when it is asked. */
function pictureVectors({ segmentId, pictureModel, seen }: SegmentHealth): Expected {
  const ids = pictureModel !== null && seen ? [vectorId(segmentId, "picture")] : [];
  return { ids, model: pictureModel };
}

async function inspectVectors(
  space: VectorizeIndex,
  segments: SegmentHealth[],
  expectedOf: (segment: SegmentHealth) => Expected,
): Promise<Finding[]> {
  const expected = segments.map(expectedOf);
  const models = await listVectorModels(
    space,
    expected.flatMap(({ ids }) => ids),
  );
  const lost = expected.filter(({ ids }) => ids.some((id) => !models.has(id)));
  const stale = expected.filter(({ ids, model }) =>
    ids.some((id) => models.has(id) && models.get(id) !== model),
  );
  return [
    ...count("vectors_missing", lost.length, "has lost a vector"),
    ...count("vectors_stale", stale.length, "has a vector of another model"),
  ];
}

function hasWords({ caption, speech, text }: SegmentHealth): boolean {
  return caption + speech + text > 0;
}

function count(code: Finding["code"], segments: number, what: string): Finding[] {
  if (segments === 0) return [];
  const who = segments === 1 ? "One segment" : `Each of ${segments} segments`;
  return [{ code, message: `${who} ${what}.` }];
}
