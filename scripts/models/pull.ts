import { mkdir, rm, statfs } from "node:fs/promises";
import { dirname, join } from "node:path";
import { ProgressBars } from "../demo/progress.ts";
import { downloadFile, Unreachable } from "./download.ts";
import { lockPull } from "./pull-lock.ts";
import { type Model, modelBytes, type ModelFile } from "./registry.ts";
import { checkFile, heldBytes, modelFolder } from "./shelf.ts";

/** On a terminal the bar moves this often; elsewhere a line comes each tenth of the way. */
const FRAME_MS = 100;

const FULL = "The disk is full. What has come is kept: make room, and pull again.";

/**
 * Brings all files of a model into its folder in `models`, and verifies those that are there. Throws
 * the signal's reason, or an error whose message tells a person what to do.
 */
export async function pullModel(models: string, model: Model, signal: AbortSignal): Promise<void> {
  const folder = modelFolder(models, model);
  const unlock = await lockPull(`${folder}.lock`);
  try {
    const missing = await sortOut(folder, model.files);
    const held = await heldBytes(folder, model.files);
    await requireSpace(models, modelBytes(model) - held);
    await fetchFiles(folder, model, missing, signal);
  } catch (error) {
    if (error instanceof Unreachable) throw withoutInternet(error, folder, model);
    throw isFull(error) ? new Error(FULL, { cause: error }) : error;
  } finally {
    await unlock();
  }
}

/** Deletes what is damaged; the files that are to be downloaded. */
async function sortOut(folder: string, files: readonly ModelFile[]): Promise<ModelFile[]> {
  const missing: ModelFile[] = [];
  for (const file of files) {
    const path = join(folder, file.path);
    const state = await checkFile(path, file);
    if (state === "damaged") await rm(path);
    if (state !== "whole") missing.push(file);
  }
  return missing;
}

async function fetchFiles(
  folder: string,
  model: Model,
  missing: readonly ModelFile[],
  signal: AbortSignal,
): Promise<void> {
  const show = createMeter(model);
  let done = modelBytes(model) - missing.reduce((sum, { bytes }) => sum + bytes, 0);
  for (const file of missing) {
    const target = join(folder, file.path);
    await mkdir(dirname(target), { recursive: true });
    const onBytes = (held: number) => show(done + held);
    await downloadFile({ url: model.from + file.path, target, file, onBytes, signal });
    done += file.bytes;
  }
  show(done, missing.length > 0 ? `pulled and verified, in ${folder}` : `is there, in ${folder}`);
}

function createMeter(model: Model): (held: number, outcome?: string) => void {
  const bars = new ProgressBars(process.stdout);
  const total = modelBytes(model);
  let shownAt = 0;
  let tenth = -1;
  return (held, outcome) => {
    const share = held / total;
    const due = process.stdout.isTTY
      ? Date.now() - shownAt > FRAME_MS
      : Math.floor(share * 10) > tenth;
    if (!due && outcome === undefined) return;
    shownAt = Date.now();
    tenth = Math.floor(share * 10);
    const state = `${formatBytes(held)} of ${formatBytes(total)}`;
    bars.update(model.name, { name: model.name, state, share, ...(outcome && { outcome }) });
  };
}

async function requireSpace(folder: string, bytes: number): Promise<void> {
  const { bavail, bsize } = await statfs(folder);
  const free = bavail * bsize;
  if (bytes <= free) return;
  const [needed, left] = [formatBytes(bytes), formatBytes(free)];
  throw new Error(
    `The disk has no room: ${needed} are missing, and ${left} are free in ${folder}.`,
  );
}

function withoutInternet(error: Unreachable, folder: string, { files, from }: Model): Error {
  const places = files.map(({ path }) => `  ${from}${path}\n    → ${join(folder, path)}`);
  const advice = 'Without internet, put these files there by hand; "list" verifies them:';
  return new Error([`${error.message} ${advice}`, ...places].join("\n"), { cause: error });
}

function isFull(error: unknown): boolean {
  if (!(error instanceof Error && "code" in error)) return false;
  return error.code === "ENOSPC" || error.code === "EDQUOT";
}

/** As MB, or as kB below one. */
export function formatBytes(bytes: number): string {
  return bytes < 1e6 ? `${(bytes / 1e3).toFixed(1)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}
