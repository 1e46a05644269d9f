import {
  type AddedMedia,
  type LocalUploads,
  type OnProgress,
  waitForAsset,
} from "../add-local-file.ts";
import { type AddedAsset, type Asset, NotFoundError } from "../index.ts";
import type { MediaKind } from "./media-files.ts";

/** Adds a video or an image by its URL, which the service fetches. */
export async function addUrl(
  run: LocalUploads,
  url: string,
  kind: MediaKind,
  onProgress: OnProgress,
): Promise<AddedMedia> {
  const { index, metadata, signal } = run;
  const fields = metadata && { metadata };
  const added =
    kind === "video"
      ? await index.videos.add({ video_url: url, ...fields }, { signal })
      : await index.images.add({ image_url: url, ...fields }, { signal });
  try {
    return { asset: await waitForAsset(run, added, onProgress), isDuplicate: added.duplicate };
  } catch (error) {
    const copy = error instanceof NotFoundError ? await findCopy(run, added) : undefined;
    if (copy) return { asset: copy, isDuplicate: true };
    throw error;
  }
}

/** Returns the asset that has the bytes of a URL already; the new one was removed for it. */
async function findCopy(
  { sightline, index, signal }: LocalUploads,
  { job_id: jobId, asset_type }: AddedAsset,
): Promise<Asset | undefined> {
  if (jobId === undefined) return undefined;
  const { result } = await sightline.jobs.get(jobId, { signal });
  const { asset_id: id } = (result ?? {}) as { asset_id?: string };
  if (id === undefined) return undefined;
  return asset_type === "video"
    ? index.videos.get(id, { signal })
    : index.images.get(id, { signal });
}
