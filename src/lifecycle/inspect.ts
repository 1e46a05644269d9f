import { LIFECYCLE, MODELS } from "../config.ts";
import type { VectorId } from "../ids.ts";
import { transcriptBySegment } from "../ingest/steps/align-transcript.ts";
import { regionModel, smallObjects } from "../ingest/steps/embed.ts";
import { append } from "../lists.ts";
import type { ImageModel } from "../models/embed.ts";
import { hasPresentFacts, listMissingAssets, listOrphanAssets } from "../store/asset-changes.ts";
import { type SegmentHealth, listSegmentHealth } from "../store/health.ts";
import { indexDatabase, indexDatabases } from "../store/index-database/index-database.ts";
import { listSegments } from "../store/index-database/segments.ts";
import {
  type StoredObject,
  assetPrefix,
  clipPrefix,
  keyframeKey,
  listObjects,
  listStoredAssets,
  mediaKey,
  sourceKey,
  transcriptKey,
} from "../store/r2/object-keys.ts";
import { type TranscriptSummary, getCues, getTranscript } from "../store/transcripts.ts";
import { type VectorPair, type VectorSpace, vectorPair } from "../store/vectorize/vector-pairs.ts";
import {
  imageIds,
  listVectorModels,
  regionIds,
  textIds,
  vectorId,
  vectorLagSeconds,
} from "../store/vectorize/vectors.ts";
import { type Asset, type IndexRef, type Segment, TEXT_KINDS } from "../types.ts";
import { type Finding, type IndexFindingCode, finding, findingAbout } from "./findings.ts";

/**
 * Compares an asset's record with its content in D1, the index's database, R2 and Vectorize.
 * Read-only. For an asset that isn't ready, checks only its ingest and its facts.
 */
export async function inspectAsset(env: Env, asset: Asset, imageModel: ImageModel, now: number) {
  const inspectFacts = async () => {
    const isPresent = await hasPresentFacts(env, asset);
    return finding("facts_mismatch", isPresent ? null : OUTDATED_FACTS);
  };
  if (asset.state !== "ready") return [...inspectIngest(asset, now), ...(await inspectFacts())];
  const [facts, segments, objects, transcript] = await Promise.all([
    inspectFacts(),
    listSegmentHealth(env, asset, now),
    listObjects(env.MEDIA, assetPrefix(asset)),
    getTranscript(env.DB, asset.assetId),
  ]);
  const settledAt = now - vectorLagSeconds(env) * 1000;
  const settled = segments.filter(({ vectorsAt }) => vectorsAt <= settledAt);
  const [cues, vectors] = await Promise.all([
    inspectCues(env, asset, transcript, objects),
    inspectVectors(vectorPair(env, asset), settled, imageModel),
  ]);
  const soundError = asset.hasAudio ? (transcript?.error?.message ?? null) : null;
  return [
    ...facts,
    ...inspectSegments(asset, segments),
    ...inspectObjects(asset, segments, objects),
    ...finding("sound_unrecognized", soundError),
    ...cues,
    ...vectors,
  ];
}

const OUTDATED_FACTS = "Searches have an outdated copy of the record.";

function inspectIngest({ state, error, updatedAt }: Asset, now: number): Finding[] {
  if (state === "failed") return finding("ingest_failed", error?.message ?? "The ingest failed.");
  if (now - updatedAt < LIFECYCLE.stuckAfterMs) return [];
  const minutes = Math.floor((now - updatedAt) / 60_000);
  return finding("ingest_stuck", `The ingest has made no progress for ${minutes} minutes.`);
}

export const idsOf = (segments: Pick<Segment, "segmentId">[]) =>
  segments.map(({ segmentId }) => segmentId);

function inspectSegments(asset: Asset, segments: SegmentHealth[]): Finding[] {
  const { length } = segments.filter(({ isFinal }) => isFinal);
  const isComplete = length === asset.segments && length === segments.length;
  const mismatch = `The record says ${asset.segments} segments; there are ${length}.`;
  const undescribed = segments.filter(({ described }) => !described);
  const unsigned = segments.filter(({ described, hasKeyframe, hasSignature }) => {
    return described && hasKeyframe && !hasSignature;
  });
  const unindexed = segments.filter(({ caption, speech, text, indexed }) => {
    return caption + speech + text > 0 && !indexed;
  });
  return [
    ...finding("segment_count_mismatch", isComplete ? null : mismatch),
    ...findingAbout("signatures_missing", idsOf(unsigned)),
    ...findingAbout("fulltext_missing", idsOf(unindexed)),
    ...findingAbout("keyframes_undescribed", idsOf(undescribed)),
  ];
}

/** Finds a missing or truncated source file, and missing keyframes. */
export function inspectObjects(asset: Asset, segments: SegmentHealth[], objects: StoredObject[]) {
  const byKey = new Map(objects.map((object) => [object.key, object]));
  const keyframeOf = ({ keyframeMs }: SegmentHealth) => byKey.get(keyframeKey(asset, keyframeMs));
  const missing = segments.filter((segment) => segment.hasKeyframe && !keyframeOf(segment));
  const source = byKey.get(sourceKey(asset));
  const truncated =
    source && source.size !== asset.sizeBytes
      ? `The stored file has ${source.size} of ${asset.sizeBytes} bytes.`
      : null;
  const hasCopy = mediaKey(asset) === sourceKey(asset) || byKey.has(mediaKey(asset));
  return [
    ...finding("source_missing", source ? null : "The stored file is gone."),
    ...finding("source_truncated", truncated),
    ...finding("working_copy_missing", hasCopy ? null : "The copy that is played is gone."),
    ...findingAbout("keyframes_missing", idsOf(missing)),
  ];
}

async function inspectCues(
  env: Env,
  asset: Asset,
  transcript: TranscriptSummary | null,
  objects: StoredObject[],
): Promise<Finding[]> {
  if (!transcript || transcript.cues === 0) return [];
  const key = transcriptKey(asset, asset.transcriptJobId);
  const isStored = objects.some((object) => object.key === key);
  if (!isStored) return finding("transcript_missing", "The stored transcript is gone.");
  return findingAbout("transcript_mismatch", idsOf(await listMismatchedSegments(env, asset)));
}

/** Lists the segments whose text isn't that of their cues, with the text of the cues. */
export async function listMismatchedSegments(
  env: Pick<Env, "INDEX_DATABASE" | "MEDIA">,
  asset: Asset,
): Promise<Pick<Segment, "segmentId" | "transcript">[]> {
  const [segments, cues] = await Promise.all([
    listSegments(indexDatabase(env, asset), asset.assetId),
    getCues(env.MEDIA, asset),
  ]);
  const aligned = transcriptBySegment(asset, segments, cues);
  return aligned.filter(({ transcript }, i) => transcript !== segments[i]!.transcript);
}

/** The vectors of a segment among the text vectors, or among the image vectors. */
interface ExpectedVectors {
  /** All ids that the segment may have there. */
  possibleIds: VectorId[];
  /** Ids that must be there, and the model that each should name; null if it may name any. */
  models: Map<VectorId, string | null>;
}

/** A model that no vector names, so that the vector counts as outdated. */
const OUTDATED = "";

const VECTOR_FINDINGS = ["vectors_missing", "vectors_stale", "vectors_unexpected"] as const;
type VectorFinding = (typeof VECTOR_FINDINGS)[number];

/**
 * Checks that segments have the vectors that they should, of the present models, and no others.
 * `segments` are those whose vectors haven't changed lately: Vectorize shows a write late.
 */
export async function inspectVectors(
  pair: VectorPair,
  segments: SegmentHealth[],
  imageModel: ImageModel,
): Promise<Finding[]> {
  const expectedImages = segments.map((segment) => expectedImageVectors(segment, imageModel));
  const [texts, images] = await Promise.all([
    compareVectors(pair.text, segments.map(expectedTextVectors)),
    imageModel === "none" ? [] : compareVectors(pair.image, expectedImages),
  ]);
  const found = Map.groupBy([...texts, ...images], ({ code }) => code);
  return VECTOR_FINDINGS.flatMap((code) =>
    findingAbout(
      code,
      (found.get(code) ?? []).map(({ id }) => id),
    ),
  );
}

function expectedTextVectors(segment: SegmentHealth): ExpectedVectors {
  const { segmentId, textModel, unembedded } = segment;
  const { id: model } = MODELS.embedText;
  const isOutdated = textModel !== null && textModel !== model;
  const kinds = TEXT_KINDS.filter((kind) => segment[kind]);
  const models = kinds.map((kind): [VectorId, string] => {
    const isStale = isOutdated || (unembedded && kind === "speech");
    return [vectorId(segmentId, kind), isStale ? OUTDATED : model];
  });
  return { possibleIds: textIds(segmentId), models: new Map(models) };
}

/** While the present model is unknown, requires the vectors that any model has made before. */
function expectedImageVectors(
  { segmentId, hasKeyframe, boxes, imageModel: recordedModel }: SegmentHealth,
  imageModel: ImageModel,
): ExpectedVectors {
  const model = typeof imageModel === "object" ? imageModel.model : null;
  const models = new Map<VectorId, string | null>();
  if (hasKeyframe && (model !== null || recordedModel !== null)) {
    models.set(vectorId(segmentId, "image"), model);
    const regions = regionIds(segmentId).slice(0, smallObjects(boxes).length);
    for (const id of regions) models.set(id, model && regionModel(model));
  }
  return { possibleIds: imageIds(segmentId), models };
}

/** Finds for each possible vector whether it is as expected (null), and if not, in which way. */
async function compareVectors(
  space: VectorSpace,
  expected: ExpectedVectors[],
): Promise<{ id: VectorId; code: VectorFinding | null }[]> {
  const stored = await listVectorModels(
    space,
    expected.flatMap(({ possibleIds }) => possibleIds),
  );
  const codeOf = (id: VectorId, model: string | null | undefined): VectorFinding | null => {
    if (!stored.has(id)) return model === undefined ? null : "vectors_missing";
    if (model === undefined) return "vectors_unexpected";
    return model === null || model === stored.get(id) ? null : "vectors_stale";
  };
  return expected.flatMap(({ possibleIds, models }) =>
    possibleIds.map((id) => ({ id, code: codeOf(id, models.get(id)) })),
  );
}

/** Finds content of an index that belongs to none of its assets. Read-only. */
export async function inspectIndex(
  env: Env,
  index: IndexRef,
  now: number,
): Promise<Finding<IndexFindingCode>[]> {
  const [keys, assetIds] = await Promise.all([
    listOrphanObjects(env, index, now),
    Promise.all(indexDatabases(env, index).map((db) => listOrphanAssets(env.DB, db))),
  ]);
  return [
    ...findingAbout("objects_orphaned", keys),
    ...findingAbout("segments_orphaned", assetIds.flat()),
  ];
}

/**
 * Lists the keys of the objects of assets without a row, and of query clips. Leaves out objects
 * younger than `LIFECYCLE.minOrphanAgeMs`, since an upload is stored before its row is written.
 */
async function listOrphanObjects(
  { DB, MEDIA }: Pick<Env, "DB" | "MEDIA">,
  index: IndexRef,
  now: number,
): Promise<string[]> {
  const orphans = await listObjects(MEDIA, clipPrefix(index.indexId));
  for await (const stored of listStoredAssets(MEDIA, index)) {
    for (const assetId of await listMissingAssets(DB, index.indexId, stored)) {
      append(orphans, await listObjects(MEDIA, assetPrefix({ ...index, assetId })));
    }
  }
  const isOld = (uploaded: Date) => now - uploaded.getTime() > LIFECYCLE.minOrphanAgeMs;
  return orphans.filter(({ uploaded }) => isOld(uploaded)).map(({ key }) => key);
}
