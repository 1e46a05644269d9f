import { stat } from "node:fs/promises";
import { basename } from "node:path";
import { ALL_FORMATS, FilePathSource, Input } from "mediabunny";
import {
  type AddedAsset,
  type AddOptions,
  type Asset,
  AuthenticationError,
  ConnectionError,
  PermissionError,
  type Sightline,
  type SightlineIndex,
} from "sightline";
import {
  addLocalFile,
  estimateWork,
  type LocalMedia,
  type LocalUploads,
  openFile,
  StoredCopies,
} from "sightline/node";
import { IngestProgress } from "./ingest-progress.ts";
import type { MediaFile } from "./media-files.ts";

/** Outcome of one file. */
export interface Ingested {
  name: string;
  path: string;
  state: "ready" | "failed";
  /** Null if the file became no asset. */
  assetId: string | null;
  /** Whether its bytes were in the index before they were sent. */
  isDuplicate: boolean;
  /** Title of the asset, which for a duplicate may be another name. */
  title?: string;
  /** Error code of the service, or of the file system. */
  code?: string;
  message?: string;
  /** Warnings of a file that is ready. */
  warnings: Asset["warnings"];
  seconds: number;
}

const CONCURRENCY = 6;
/** Time without any progress after which the ingest counts as stuck. */
const STUCK_MS = 10 * 60_000;

/** Adds a file to an index, by tus if it is large. */
export async function addFile(
  { videos, images }: SightlineIndex,
  { path, kind, transcript, metadata }: MediaFile,
  options: AddOptions = {},
): Promise<AddedAsset> {
  const file = await openFile(path);
  const details = metadata ? { metadata } : {};
  if (kind === "image") return images.add({ image_file: file, ...details }, options);
  const video = { video_file: file, ...details };
  if (transcript === undefined) return videos.add(video, options);
  return videos.add({ ...video, transcript: await openFile(transcript) }, options);
}

export interface IngestOptions {
  sightline: Sightline;
  indexName: string;
  serviceUrl: string;
  /** Folder where uploads that were broken off are noted. */
  stateFolder: string;
  /** Stream of the progress. */
  output: NodeJS.WriteStream;
  /** Gets each outcome at once. */
  onOutcome?: (outcome: Ingested) => void;
}

/**
 * Uploads files to an index, but for those that it has, and waits until each is ready or has
 * failed. Throws if nothing progresses for ten minutes.
 */
export async function ingestFiles(
  files: MediaFile[],
  { sightline, indexName, serviceUrl, stateFolder, output, onOutcome }: IngestOptions,
): Promise<Ingested[]> {
  const stuck = new AbortController();
  const error = new Error("No progress for ten minutes.");
  const timer = setTimeout(() => stuck.abort(error), STUCK_MS);
  const media = await Promise.all(files.map(readMedia));
  const progress = new IngestProgress(output, media);
  const index = sightline.index(indexName);
  const { signal } = stuck;
  const copies = new StoredCopies(index, signal);
  const uploads = { sightline, index, serviceUrl, copies, isWaiting: true, stateFolder, signal };
  const outcomes: Ingested[] = [];
  // What takes longest begins first, so that no long video is left to work alone at the end.
  const queue = [...files.entries()].toSorted(
    ([a], [b]) => estimateWork(media[b]!) - estimateWork(media[a]!),
  );
  const worker = async () => {
    for (let next = queue.shift(); next; next = queue.shift()) {
      const [position, { metadata }] = next;
      const onProgress = (fraction: number, state: string) => {
        timer.refresh();
        progress.update(position, fraction, state);
      };
      const outcome = await ingestFile({ ...uploads, metadata }, media[position]!, onProgress);
      outcomes[position] = outcome;
      const success = outcome.isDuplicate ? "known" : "added";
      progress.finish(position, outcome.state === "failed" ? "failed" : success);
      onOutcome?.(outcome);
    }
  };
  try {
    await Promise.all(Array.from({ length: CONCURRENCY }, worker));
    return outcomes;
  } finally {
    queue.length = 0;
    stuck.abort();
    clearTimeout(timer);
    progress.clear();
  }
}

async function readMedia(file: MediaFile): Promise<LocalMedia> {
  const { path, name = basename(path), kind, transcript } = file;
  const { size, mtimeMs } = await stat(path);
  const media = { path, name, kind, bytes: size, changedAt: Math.trunc(mtimeMs) };
  const seconds = kind === "video" ? await readSeconds(path) : null;
  return {
    ...media,
    ...(transcript !== undefined && { transcript }),
    ...(seconds !== null && { seconds }),
  };
}

/** Reads the duration that a video states; null if its container isn't read here. */
async function readSeconds(path: string): Promise<number | null> {
  using input = new Input({ formats: ALL_FORMATS, source: new FilePathSource(path) });
  return input.getDurationFromMetadata().catch(treatAsUnknown);
}

/** Ignores that a container isn't read here: a guess by the file's size is as good. */
function treatAsUnknown(): null {
  return null;
}

/** Ingests one file. Errors that concern only it are its outcome; others are thrown. */
async function ingestFile(
  uploads: LocalUploads,
  media: LocalMedia,
  onProgress: (fraction: number, state: string) => void,
): Promise<Ingested> {
  const { name, path } = media;
  try {
    const { asset, isDuplicate } = await addLocalFile(uploads, media, onProgress);
    const { asset_id: assetId, title, error, warnings, duration_seconds: seconds } = asset;
    const outcome = { name, path, assetId, isDuplicate, title, warnings, seconds: seconds ?? 0 };
    return error ? { ...outcome, ...error, state: "failed" } : { ...outcome, state: "ready" };
  } catch (error) {
    if (isFatal(error) || !(error instanceof Error) || uploads.signal.aborted) throw error;
    const code = "code" in error ? String(error.code) : "unreadable_file";
    const failure = { code, message: error.message, warnings: [], seconds: 0 };
    return { name, path, state: "failed", assetId: null, isDuplicate: false, ...failure };
  }
}

/** Whether an error concerns all files: the service can't be used, or the client has stopped. */
function isFatal(error: unknown): boolean {
  const isService =
    error instanceof AuthenticationError ||
    error instanceof PermissionError ||
    error instanceof ConnectionError;
  return isService || (error instanceof Error && error.name === "AbortError");
}
