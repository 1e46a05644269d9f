import { IngestFailedError } from "./errors.ts";
import type { LocalMedia } from "./local-media.ts";
import { openFile } from "./open-file.ts";
import type { SightlineIndex } from "./sightline-index.ts";
import type { Sightline } from "./sightline.ts";
import type { StoredCopies } from "./stored-copies.ts";
import type { Asset } from "./types.ts";
import {
  deleteUploadState,
  readUploadState,
  uploadStateFile,
  writeUploadState,
} from "./upload-state.ts";

/** Larger files are uploaded in parts, which continue after a break. */
const RESUMABLE_BYTES = 16 * 2 ** 20;
/** A video with a transcript goes in one request up to this size. */
const SINGLE_REQUEST_BYTES = 50 * 2 ** 20;

/** Share of the upload in the progress if the ingest, which takes longer, is waited for. */
const UPLOAD_SHARE = 0.1;

/** Where files go, and what they have in common. */
export interface LocalUploads {
  sightline: Sightline;
  index: SightlineIndex;
  serviceUrl: string;
  copies: StoredCopies;
  metadata: Record<string, unknown> | undefined;
  /** Whether to wait until each asset is ready or has failed. */
  isWaiting: boolean;
  /** Folder where uploads that were broken off are noted. */
  stateFolder: string;
  signal: AbortSignal;
}

export interface AddedMedia {
  asset: Asset;
  /** Whether the index had the bytes already. */
  isDuplicate: boolean;
  /** Whether the transcript is yet to be sent, because the video isn't ready. */
  isTranscriptMissing?: boolean;
}

export type OnProgress = (fraction: number, state: string) => void;

/**
 * Uploads a file, unless the index has it, and waits until it is ready or has failed. An upload
 * that was broken off continues. A failed asset with the same bytes is retried, and one that the
 * index has without the transcript beside the file gets it.
 */
export async function addLocalFile(
  run: LocalUploads,
  media: LocalMedia,
  onProgress: OnProgress,
): Promise<AddedMedia> {
  const stateFile = uploadStateFile(run.stateFolder, run.serviceUrl, run.index.name, media);
  const { isDuplicate, ...uploaded } = await findOrUpload(run, media, stateFile, onProgress);
  const asset = await waitForAsset(run, uploaded.asset, onProgress);
  if (!uploaded.isTranscriptMissing) {
    await deleteUploadState(stateFile);
    return { asset, isDuplicate };
  }
  if (asset.state !== "ready") return { asset, isDuplicate, isTranscriptMissing: true };
  onProgress(0.99, "transcript");
  await sendTranscript(run, asset.asset_id, media.transcript!);
  await deleteUploadState(stateFile);
  const { index, signal } = run;
  return { asset: await index.videos.get(asset.asset_id, { signal }), isDuplicate };
}

async function findOrUpload(
  run: LocalUploads,
  media: LocalMedia,
  stateFile: string,
  onProgress: OnProgress,
): Promise<AddedMedia> {
  const { index, signal } = run;
  const state = await readUploadState(stateFile);
  const copy = await run.copies.find(media);
  const wasLeftOut = state.asset_id !== undefined && state.asset_id === copy?.asset_id;
  const isTranscriptMissing = wasLeftOut || (await lacksTranscript(run, media, copy));
  if (copy?.state === "failed") {
    const resource = copy.asset_type === "video" ? index.videos : index.images;
    const asset = await resource.retry(copy.asset_id, { signal });
    return { asset, isDuplicate: false, isTranscriptMissing };
  }
  if (copy) return { asset: copy, isDuplicate: !isTranscriptMissing, isTranscriptMissing };
  const hasTranscript = media.transcript !== undefined;
  const limit = hasTranscript ? SINGLE_REQUEST_BYTES : RESUMABLE_BYTES;
  if (media.bytes > limit) {
    return uploadInParts(run, media, { stateFile, uploadUrl: state.upload_url }, onProgress);
  }
  onProgress(0, "uploading");
  return uploadAtOnce(run, media, onProgress);
}

/** Tests whether a file has a transcript beside it that its copy in the index doesn't have. */
async function lacksTranscript(
  { index, signal }: LocalUploads,
  { transcript }: LocalMedia,
  copy: Asset | undefined,
): Promise<boolean> {
  if (transcript === undefined || copy?.asset_type !== "video") return false;
  const video = await index.videos.get(copy.asset_id, { signal });
  return video.transcript?.source !== "upload";
}

async function uploadAtOnce(
  { index, metadata, isWaiting, signal }: LocalUploads,
  media: LocalMedia,
  onProgress: OnProgress,
): Promise<AddedMedia> {
  const file = await openFile(media.path, media.name);
  const share = isWaiting ? UPLOAD_SHARE : 1;
  const options = {
    signal,
    onProgress: (sent: number, total: number) =>
      onProgress((share * sent) / Math.max(1, total), "uploading"),
  };
  if (media.kind === "image") {
    const fields = { image_file: file, ...(metadata && { metadata }) };
    const added = await index.images.add(fields, options);
    return { asset: added, isDuplicate: added.duplicate };
  }
  const transcript = media.transcript === undefined ? undefined : await openFile(media.transcript);
  const fields = {
    video_file: file,
    ...(transcript && { transcript }),
    ...(metadata && { metadata }),
  };
  const added = await index.videos.add(fields, options);
  return { asset: added, isDuplicate: added.duplicate };
}

async function uploadInParts(
  { index, metadata, isWaiting, signal }: LocalUploads,
  media: LocalMedia,
  { stateFile, uploadUrl }: { stateFile: string; uploadUrl: string | undefined },
  onProgress: OnProgress,
): Promise<AddedMedia> {
  onProgress(0, uploadUrl === undefined ? "uploading" : "continuing");
  const share = isWaiting ? UPLOAD_SHARE : 1;
  const isTranscriptMissing = media.transcript !== undefined;
  const writes: Promise<void>[] = [];
  const asset = await index.upload(await openFile(media.path, media.name), {
    name: media.name,
    signal,
    ...(metadata && { metadata }),
    ...(uploadUrl !== undefined && { resumeUrl: uploadUrl }),
    onUrl: (url) => void writes.push(writeUploadState(stateFile, { upload_url: url })),
    onProgress: (sent, total) => onProgress((share * sent) / Math.max(1, total), "uploading"),
  });
  await Promise.all(writes);
  if (isTranscriptMissing) await writeUploadState(stateFile, { asset_id: asset.asset_id });
  else await deleteUploadState(stateFile);
  return { asset, isDuplicate: false, isTranscriptMissing };
}

/** Waits until an asset is ready or has failed, unless `isWaiting` is false. */
export async function waitForAsset(
  run: Pick<LocalUploads, "index" | "isWaiting" | "signal">,
  asset: Asset,
  onProgress: OnProgress,
): Promise<Asset> {
  if (!run.isWaiting || asset.state === "ready") return asset;
  onProgress(UPLOAD_SHARE, asset.state);
  try {
    const [settled] = await run.index.waitUntilReady([asset.asset_id], {
      signal: run.signal,
      onProgress: ({ progress, state }) =>
        onProgress(UPLOAD_SHARE + (1 - UPLOAD_SHARE) * progress, state),
    });
    return settled ?? asset;
  } catch (error) {
    if (error instanceof IngestFailedError) return error.asset;
    throw error;
  }
}

async function sendTranscript(run: LocalUploads, videoId: string, path: string): Promise<void> {
  const { sightline, index, signal } = run;
  const transcript = await openFile(path);
  const { job_id } = await index.videos.replaceTranscript(videoId, transcript, { signal });
  await sightline.jobs.wait(job_id, { signal });
}
