import { basename } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import {
  type AddedAsset,
  type Api,
  ApiError,
  type AssetRecord,
  type ApiFailure,
} from "./api-client.ts";
import type { MediaFile } from "./media-files.ts";
import type { ProgressBars } from "./progress.ts";
import { type FormField, streamForm } from "./multipart-stream.ts";
import { formatClock } from "./terminal.ts";

/** Outcome of one file. */
export interface Ingested {
  name: string;
  state: "ready" | "failed";
  /** Error code of the service, or `http_<status>`. */
  code?: string;
  message?: string;
  /** Warnings of a file that is ready. */
  warnings: ApiFailure[];
  seconds: number;
}

const CONCURRENCY = 6;
const POLL_MS = 300;
/** Upload progress is reported in steps of this size. */
const PROGRESS_STEP_BYTES = 50_000_000;
/** Time without any progress after which the ingest counts as stuck. */
const STUCK_MS = 10 * 60_000;

/**
 * Uploads files to an index and polls each until it is ready or has failed. Throws if nothing
 * progresses for ten minutes.
 */
export async function ingestFiles(
  api: Api,
  indexName: string,
  files: MediaFile[],
  bars: ProgressBars,
): Promise<Ingested[]> {
  const run = { api, indexName, bars, changedAt: Date.now() };
  const outcomes: Ingested[] = [];
  const queue = [...files.entries()];
  const worker = async () => {
    for (let next = queue.shift(); next; next = queue.shift()) {
      const [position, file] = next;
      outcomes[position] = await ingestFile(run, String(position), file);
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, worker));
  return outcomes;
}

interface Run {
  api: Api;
  indexName: string;
  bars: ProgressBars;
  changedAt: number;
}

async function ingestFile(run: Run, id: string, file: MediaFile): Promise<Ingested> {
  const name = basename(file.path);
  try {
    const added = await upload(run, id, name, file);
    const asset = await waitUntilSettled(run, id, name, added);
    const seconds = asset.duration_seconds ?? 0;
    if (asset.state === "failed") {
      const { code, message } = asset.error ?? { code: "unknown", message: "" };
      return fail(run, id, { name, state: "failed", code, message, warnings: [], seconds });
    }
    const details =
      asset.asset_type === "video"
        ? `, ${formatClock(seconds)}, ${countSegments(asset.segments)}`
        : "";
    const duplicateNote = added.duplicate ? ` (the same bytes as ${added.title})` : "";
    const { warnings } = asset;
    const warningNote = warnings.map(({ code }) => `, but ${code}`).join("");
    run.bars.update(id, {
      name,
      state: "",
      fraction: 1,
      outcome: `✔ ready${details}${duplicateNote}${warningNote}`,
    });
    return { name, state: "ready", warnings, seconds };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const { status, message } = error;
    const code = `http_${status}`;
    return fail(run, id, { name, state: "failed", code, message, warnings: [], seconds: 0 });
  }
}

function countSegments(count: number): string {
  return count === 1 ? "1 segment" : `${count} segments`;
}

function fail(run: Run, id: string, outcomes: Ingested): Ingested {
  const outcome = `✘ failed, ${outcomes.code}: ${outcomes.message}`;
  run.bars.update(id, { name: outcomes.name, state: "", fraction: 0, outcome });
  return outcomes;
}

async function upload(run: Run, id: string, name: string, file: MediaFile): Promise<AddedAsset> {
  const fields: FormField[] = [{ name: `${file.kind}_file`, path: file.path }];
  if (file.metadata) fields.unshift({ name: "metadata_str", text: JSON.stringify(file.metadata) });
  if (file.transcript) fields.unshift({ name: "transcript", path: file.transcript });
  const form = streamForm(fields, (bytes) => {
    const steps = Math.floor(bytes / PROGRESS_STEP_BYTES);
    const state = `uploading${steps > 0 ? `, ${(steps * PROGRESS_STEP_BYTES) / 1e6} MB sent` : ""}`;
    run.bars.update(id, { name, state, fraction: 0 });
  });
  return run.api.upload(`/index/${run.indexName}/${file.kind}`, form);
}

async function waitUntilSettled(
  run: Run,
  id: string,
  name: string,
  { asset_type, asset_id }: AddedAsset,
): Promise<AssetRecord> {
  let previous = "";
  for (;;) {
    const path = `/index/${run.indexName}/${asset_type}/${asset_id}`;
    const asset = await run.api.get<AssetRecord>(path);
    if (asset.state === "ready" || asset.state === "failed") return asset;
    const current = `${asset.state} ${asset.progress}`;
    if (current !== previous) run.changedAt = Date.now();
    previous = current;
    if (Date.now() - run.changedAt > STUCK_MS) {
      throw new Error(`No progress for ten minutes; ${name} is still ${asset.state}.`);
    }
    run.bars.update(id, { name, state: asset.state, fraction: asset.progress });
    await wait(POLL_MS);
  }
}
