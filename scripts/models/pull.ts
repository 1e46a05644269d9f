import { mkdir, rm, statfs } from "node:fs/promises";
import { dirname, join } from "node:path";
import { ProgressBars } from "../../tools/progress.ts";
import { downloadFile, UnreachableError } from "./download.ts";
import { lockPull } from "./pull-lock.ts";
import { type Model, modelBytes, type ModelFile } from "./registry.ts";
import { checkFile, downloadedBytes, modelFolder } from "./shelf.ts";

/** Interval of updates on a terminal; other outputs get a line per 10 %. */
const UPDATE_MS = 100;

const DISK_FULL = "The disk is full. Free some space and pull again: the pull resumes.";

/**
 * Downloads the missing files of a model to its folder in `models` and verifies existing ones.
 * Throws the signal's reason, or an error whose message says what to do.
 */
export async function pullModel(models: string, model: Model, signal: AbortSignal): Promise<void> {
  const folder = modelFolder(models, model);
  const unlock = await lockPull(`${folder}.lock`);
  try {
    const missing = await deleteDamaged(folder, model.files);
    const downloaded = await downloadedBytes(folder, model.files);
    await requireSpace(models, modelBytes(model) - downloaded);
    await fetchFiles(folder, model, missing, signal);
  } catch (error) {
    if (error instanceof UnreachableError) throw toOfflineError(error, folder, model);
    throw isDiskFull(error) ? new Error(DISK_FULL, { cause: error }) : error;
  } finally {
    await unlock();
  }
}

/** Deletes damaged files; returns the files to download. */
async function deleteDamaged(folder: string, files: readonly ModelFile[]): Promise<ModelFile[]> {
  const missing: ModelFile[] = [];
  for (const file of files) {
    const path = join(folder, file.path);
    const state = await checkFile(path, file);
    if (state === "damaged") await rm(path);
    if (state !== "complete") missing.push(file);
  }
  return missing;
}

async function fetchFiles(
  folder: string,
  model: Model,
  missing: readonly ModelFile[],
  signal: AbortSignal,
): Promise<void> {
  const updateProgress = createProgress(model);
  let done = modelBytes(model) - missing.reduce((sum, { bytes }) => sum + bytes, 0);
  for (const file of missing) {
    const target = join(folder, file.path);
    await mkdir(dirname(target), { recursive: true });
    const onProgress = (downloaded: number) => updateProgress(done + downloaded);
    await downloadFile({ url: model.baseUrl + file.path, target, file, onProgress, signal });
    done += file.bytes;
  }
  updateProgress(
    done,
    missing.length > 0 ? `pulled and verified, in ${folder}` : `already complete, in ${folder}`,
  );
}

function createProgress(model: Model): (downloaded: number, outcome?: string) => void {
  const bars = new ProgressBars(process.stdout);
  const total = modelBytes(model);
  let updatedAt = 0;
  let tenth = -1;
  return (downloaded, outcome) => {
    const fraction = downloaded / total;
    const isDue = process.stdout.isTTY
      ? Date.now() - updatedAt > UPDATE_MS
      : Math.floor(fraction * 10) > tenth;
    if (!isDue && outcome === undefined) return;
    updatedAt = Date.now();
    tenth = Math.floor(fraction * 10);
    const state = `${formatBytes(downloaded)} of ${formatBytes(total)}`;
    bars.update(model.name, { name: model.name, state, fraction, ...(outcome && { outcome }) });
  };
}

async function requireSpace(folder: string, bytes: number): Promise<void> {
  const { bavail, bsize } = await statfs(folder);
  const free = bavail * bsize;
  if (bytes <= free) return;
  const [needed, available] = [formatBytes(bytes), formatBytes(free)];
  throw new Error(
    `The disk is too small: ${needed} are needed, ${available} are free in ${folder}.`,
  );
}

function toOfflineError(error: UnreachableError, folder: string, { files, baseUrl }: Model): Error {
  const targets = files.map(({ path }) => `  ${baseUrl}${path}\n    → ${join(folder, path)}`);
  const advice = 'Without internet, put these files there yourself; "list" verifies them:';
  return new Error([`${error.message} ${advice}`, ...targets].join("\n"), { cause: error });
}

function isDiskFull(error: unknown): boolean {
  if (!(error instanceof Error && "code" in error)) return false;
  return error.code === "ENOSPC" || error.code === "EDQUOT";
}

/** Formats bytes as MB, or as kB below 1 MB. */
export function formatBytes(bytes: number): string {
  return bytes < 1e6 ? `${(bytes / 1e3).toFixed(1)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}
