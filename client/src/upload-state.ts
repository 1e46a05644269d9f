import { createHash } from "node:crypto";
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import type { LocalMedia } from "./local-media.ts";
import { isMissing, writePrivateFile } from "./private-file.ts";

/** Where an upload that was broken off continues, or what remains to be done after it. */
export interface UploadState {
  /** URL of the upload (tus). */
  upload_url?: string;
  /** Id of the asset that the upload became, while its transcript is yet to be sent. */
  asset_id?: string;
}

/**
 * Returns the path of an upload's state: a file for each upload, below `folder`. A changed
 * file, another service and another index are other uploads.
 */
export function uploadStateFile(
  folder: string,
  serviceUrl: string,
  indexName: string,
  { path, bytes, changedAt }: Pick<LocalMedia, "path" | "bytes" | "changedAt">,
): string {
  const parts = JSON.stringify([serviceUrl, indexName, path, bytes, changedAt]);
  const name = createHash("sha256").update(parts).digest("hex").slice(0, 32);
  return join(folder, "uploads", `${name}.json`);
}

/** Reads the state of an upload; empty if there is none or the file is damaged. */
export async function readUploadState(file: string): Promise<UploadState> {
  try {
    const state: UploadState = JSON.parse(await readFile(file, "utf8"));
    return state;
  } catch (error) {
    if (isMissing(error) || error instanceof SyntaxError) return {};
    throw error;
  }
}

export async function writeUploadState(file: string, state: UploadState): Promise<void> {
  await writePrivateFile(file, JSON.stringify(state));
}

export async function deleteUploadState(file: string): Promise<void> {
  await rm(file, { force: true });
}
