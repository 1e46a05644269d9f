import { basename } from "node:path";
import {
  type AddedAsset,
  type AddOptions,
  type Asset,
  IngestFailedError,
  SightlineError,
  type SightlineIndex,
} from "sightline";
import { openFile } from "sightline/node";
import type { MediaFile } from "./media-files.ts";
import type { ProgressBars } from "./progress.ts";
import { formatClock } from "./terminal.ts";

/** Outcome of one file. */
export interface Ingested {
  name: string;
  state: "ready" | "failed";
  /** Error code of the service, or `http_<status>`. */
  code?: string;
  message?: string;
  /** Warnings of a file that is ready. */
  warnings: Asset["warnings"];
  seconds: number;
}

const CONCURRENCY = 6;
/** Upload progress is reported in steps of this size. */
const PROGRESS_STEP_BYTES = 50_000_000;
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

/**
 * Uploads files to an index and waits until each is ready or has failed. Throws if nothing
 * progresses for ten minutes.
 */
export async function ingestFiles(
  index: SightlineIndex,
  files: MediaFile[],
  bars: ProgressBars,
): Promise<Ingested[]> {
  const stuck = new AbortController();
  const error = new Error("No progress for ten minutes.");
  const timer = setTimeout(() => stuck.abort(error), STUCK_MS);
  const run = { index, bars, signal: stuck.signal, onProgress: () => void timer.refresh() };
  const outcomes: Ingested[] = [];
  const queue = [...files.entries()];
  const worker = async () => {
    for (let next = queue.shift(); next; next = queue.shift()) {
      const [position, file] = next;
      outcomes[position] = await ingestFile(run, String(position), file);
    }
  };
  try {
    await Promise.all(Array.from({ length: CONCURRENCY }, worker));
    return outcomes;
  } finally {
    clearTimeout(timer);
  }
}

interface Run {
  index: SightlineIndex;
  bars: ProgressBars;
  signal: AbortSignal;
  onProgress: () => void;
}

async function ingestFile(run: Run, id: string, file: MediaFile): Promise<Ingested> {
  const { signal } = run;
  const name = basename(file.path);
  try {
    const onUpload = (bytes: number) => reportUpload(run, id, name, bytes);
    const added = await addFile(run.index, file, { signal, onProgress: onUpload });
    const onProgress = (record: Asset) => reportIngest(run, id, name, record);
    const [asset] = await run.index.waitUntilReady(added.asset_id, { signal, onProgress });
    const { warnings, duration_seconds } = asset!;
    const outcome = `✔ ready${describe(asset!, added)}`;
    run.bars.update(id, { name, state: "", fraction: 1, outcome });
    return { name, state: "ready", warnings, seconds: duration_seconds ?? 0 };
  } catch (error) {
    if (error instanceof IngestFailedError) {
      const { error: failure, duration_seconds } = error.asset;
      const { code, message } = failure ?? { code: "unknown", message: "" };
      return fail(run, id, name, { code, message, seconds: duration_seconds ?? 0 });
    }
    if (!(error instanceof SightlineError) || error.status === undefined) throw error;
    const { status, message } = error;
    return fail(run, id, name, { code: `http_${status}`, message, seconds: 0 });
  }
}

/** Says what is worth knowing about a ready asset. */
function describe(asset: Asset, added: AddedAsset): string {
  const { asset_type: type, segments, duration_seconds: seconds, warnings } = asset;
  const count = segments === 1 ? "1 segment" : `${segments} segments`;
  const details = type === "video" ? `, ${formatClock(seconds ?? 0)}, ${count}` : "";
  const duplicateNote = added.duplicate ? ` (the same bytes as ${added.title})` : "";
  return details + duplicateNote + warnings.map(({ code }) => `, but ${code}`).join("");
}

function fail(
  { bars }: Run,
  id: string,
  name: string,
  failure: { code: string; message: string; seconds: number },
): Ingested {
  const outcome = `✘ failed, ${failure.code}: ${failure.message}`;
  bars.update(id, { name, state: "", fraction: 0, outcome });
  return { name, state: "failed", warnings: [], ...failure };
}

function reportUpload({ bars, onProgress }: Run, id: string, name: string, bytes: number): void {
  const steps = Math.floor(bytes / PROGRESS_STEP_BYTES);
  const state = `uploading${steps > 0 ? `, ${(steps * PROGRESS_STEP_BYTES) / 1e6} MB sent` : ""}`;
  bars.update(id, { name, state, fraction: 0 });
  onProgress();
}

function reportIngest({ bars, onProgress }: Run, id: string, name: string, asset: Asset): void {
  const { state, progress: fraction } = asset;
  if (state !== "ready" && state !== "failed") bars.update(id, { name, state, fraction });
  onProgress();
}
