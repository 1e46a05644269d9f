import { basename } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import {
  type AddedAsset,
  type Api,
  ApiError,
  type AssetRecord,
  type Failure,
} from "./api-client.ts";
import type { MediaFile } from "./media-files.ts";
import type { ProgressBars } from "./progress.ts";
import { type FormField, streamForm } from "./streamed-form.ts";
import { clock } from "./terminal.ts";

/** How one file ended. */
export interface Ingested {
  name: string;
  state: "ready" | "failed";
  /** Why it failed: a code of the service, or of HTTP. */
  code?: string;
  message?: string;
  /** What could not be seen or heard in one that is ready. */
  warnings: Failure[];
  seconds: number;
}

const AT_ONCE = 6;
const LOOK_MS = 300;
/** How much of a large upload goes by between two changes of its line. */
const SHOWN_BYTES = 50_000_000;
/** Without a change anywhere for this long, something is stuck. */
const STUCK_MS = 10 * 60_000;

/** Adds files to an index and follows each until it is ready or has failed. */
export async function ingestFiles(
  api: Api,
  indexName: string,
  files: MediaFile[],
  bars: ProgressBars,
): Promise<Ingested[]> {
  const run = { api, indexName, bars, changedAt: Date.now() };
  const ended: Ingested[] = [];
  const waiting = [...files.entries()];
  const worker = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      const [position, file] = next;
      ended[position] = await ingestFile(run, String(position), file);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return ended;
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
    const asset = await follow(run, id, name, added);
    const seconds = asset.duration_seconds ?? 0;
    if (asset.state === "failed") {
      const { code, message } = asset.error ?? { code: "unknown", message: "" };
      return fail(run, id, { name, state: "failed", code, message, warnings: [], seconds });
    }
    const parts =
      asset.asset_type === "video" ? `, ${clock(seconds)}, ${countSegments(asset.segments)}` : "";
    const twin = added.duplicate ? ` (the same bytes as ${added.title})` : "";
    const { warnings } = asset;
    const but = warnings.map(({ code }) => `, but ${code}`).join("");
    run.bars.update(id, { name, state: "", share: 1, outcome: `✔ ready${parts}${twin}${but}` });
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

function fail(run: Run, id: string, ended: Ingested): Ingested {
  const outcome = `✘ failed, ${ended.code}: ${ended.message}`;
  run.bars.update(id, { name: ended.name, state: "", share: 0, outcome });
  return ended;
}

async function upload(run: Run, id: string, name: string, file: MediaFile): Promise<AddedAsset> {
  const fields: FormField[] = [{ name: `${file.kind}_file`, path: file.path }];
  if (file.metadata) fields.unshift({ name: "metadata_str", text: JSON.stringify(file.metadata) });
  if (file.transcript) fields.unshift({ name: "transcript", path: file.transcript });
  const form = streamForm(fields, (bytes) => {
    const steps = Math.floor(bytes / SHOWN_BYTES);
    const state = `uploading${steps > 0 ? `, ${(steps * SHOWN_BYTES) / 1e6} MB sent` : ""}`;
    run.bars.update(id, { name, state, share: 0 });
  });
  return run.api.upload(`/index/${run.indexName}/${file.kind}`, form);
}

async function follow(
  run: Run,
  id: string,
  name: string,
  { asset_type, asset_id }: AddedAsset,
): Promise<AssetRecord> {
  let last = "";
  for (;;) {
    const path = `/index/${run.indexName}/${asset_type}/${asset_id}`;
    const asset = await run.api.get<AssetRecord>(path);
    if (asset.state === "ready" || asset.state === "failed") return asset;
    const now = `${asset.state} ${asset.progress}`;
    if (now !== last) run.changedAt = Date.now();
    last = now;
    if (Date.now() - run.changedAt > STUCK_MS) {
      throw new Error(`Nothing has moved for ten minutes; ${name} is still ${asset.state}.`);
    }
    run.bars.update(id, { name, state: asset.state, share: asset.progress });
    await wait(LOOK_MS);
  }
}
