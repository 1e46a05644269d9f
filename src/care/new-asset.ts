import { AppError } from "../errors.ts";
import { newId } from "../ids.ts";
import { getAssetByBytes, insertAsset } from "../store/assets.ts";
import { indexObject } from "../store/index-object.ts";
import { assetPrefix, deletePrefix } from "../store/media.ts";
import type { Stored } from "../store/streams.ts";
import { putTranscript } from "../store/transcripts.ts";
import type { Asset, AssetType, Cue, MediaIndexRow } from "../types.ts";
import { purgeAsset } from "./purge.ts";

export type Identity = Pick<Asset, "assetId" | "indexId" | "accountId" | "assetType">;

/** An asset as it begins; `file` is what is stored of it. */
export function newAsset(
  identity: Identity,
  index: Pick<MediaIndexRow, "name" | "settings">,
  file: Stored | undefined,
  said: Pick<Asset, "title" | "source" | "metadata">,
  now: number,
): Asset {
  return {
    ...identity,
    ...said,
    indexName: index.name,
    title: said.title.slice(0, 300).toWellFormed(),
    state: "queued",
    progress: 0,
    error: null,
    warnings: [],
    contentType: file?.contentType ?? null,
    sizeBytes: file?.sizeBytes ?? 0,
    sha256: file?.sha256 ?? null,
    width: null,
    height: null,
    durationMs: 0,
    fps: null,
    hasAudio: null,
    language: (index.settings["language"] as string | undefined) ?? null,
    technical: {},
    keyframeMs: null,
    segments: 0,
    jobId: newId("job", now),
    transcriptJob: null,
    createdAt: now,
    updatedAt: now,
  };
}

/** What an asset takes besides its bytes; of a video a second, because how long it is shows when it has been read. */
export function roomFor(assetType: AssetType) {
  const ofADay =
    assetType === "video" ? { ingest_minutes_per_day: 1 / 60 } : { ingest_images_per_day: 1 };
  return { concurrent_ingests: 1, ...ofADay };
}

export interface Admitted {
  asset: Asset;
  duplicate: boolean;
}

interface Admission {
  transcript?: { cues: Cue[]; language: string | null } | undefined;
  /** Bytes of it that the account's limit counts already. */
  reserved?: number;
}

/**
 * Puts an asset on record and starts its ingest. Bytes that the index has
 * already give the asset that has them, and those that were stored for this one go. Throws as `insertAsset`
 * does, and `not_found` where the index is being deleted: then nothing is left of the asset.
 */
export async function admitAsset(
  env: Env,
  asset: Asset,
  { transcript, reserved = 0 }: Admission = {},
): Promise<Admitted> {
  if (!(await insertAsset(env.DB, asset, reserved))) {
    const twin = await getAssetByBytes(env.DB, asset.indexId, asset.sha256!);
    if (!twin) return admitAsset(env, asset, { transcript, reserved }); // it was deleted just now
    if (twin.assetId !== asset.assetId) {
      await deletePrefix(env.MEDIA, assetPrefix(asset));
      return { asset: twin, duplicate: true };
    }
    await ensureStarted(env, twin);
    return { asset: twin, duplicate: false };
  }
  if (transcript) {
    const language = transcript.language ?? asset.language;
    const summary = { source: "upload", language, problem: null } as const;
    await putTranscript(env, asset, transcript.cues, summary);
  }
  await start(env, asset);
  return { asset, duplicate: false };
}

/** Starts the ingest of an asset on record, unless that was heard of. Throws `not_found` as `admitAsset` does. */
export async function ensureStarted(env: Env, asset: Asset): Promise<void> {
  if (asset.state === "queued") await start(env, asset);
}

async function start(env: Env, asset: Asset): Promise<void> {
  const { indexId, assetId, assetType, jobId, indexName } = asset;
  const started = await indexObject(env, indexId).start(indexId, assetId, assetType, jobId);
  if (started === "ok") return;
  await purgeAsset(env, asset, assetId);
  throw new AppError("not_found", `There is no index named "${indexName}".`);
}
