import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import type { Model, ModelFile } from "./registry.ts";

/** State of a file; `damaged` has the wrong length or hash. */
export type ModelFileState = "missing" | "partial" | "damaged" | "complete";

/** Returns the folder of a model. */
export function modelFolder(models: string, { name }: Model): string {
  return join(models, name);
}

/** Returns the path of a download until it is complete. */
export function partPath(target: string): string {
  return `${target}.part`;
}

/** Checks a file's size and SHA-256. */
export async function checkFile(path: string, file: ModelFile): Promise<ModelFileState> {
  const size = await fileSize(path);
  if (size === null) return (await fileSize(partPath(path))) === null ? "missing" : "partial";
  if (size !== file.bytes) return "damaged";
  return (await digestFile(path)) === file.sha256 ? "complete" : "damaged";
}

/** Returns the downloaded bytes of a model, partial files included. */
export async function downloadedBytes(
  folder: string,
  files: readonly ModelFile[],
): Promise<number> {
  let downloaded = 0;
  for (const { path, bytes } of files) {
    const target = join(folder, path);
    downloaded += Math.min(
      bytes,
      (await fileSize(target)) ?? (await fileSize(partPath(target))) ?? 0,
    );
  }
  return downloaded;
}

/** Deletes a model's folder; false if there was none. */
export async function removeModel(models: string, model: Model): Promise<boolean> {
  const folder = modelFolder(models, model);
  try {
    await rm(folder, { recursive: true });
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return false;
    throw error;
  }
}

/** Computes a SHA-256 in hexadecimal. */
export async function digestFile(path: string): Promise<string> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(path), hash);
  return hash.digest("hex");
}

/** Returns the size in bytes; null if there is no such file. */
export async function fileSize(path: string): Promise<number | null> {
  try {
    return (await stat(path)).size;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
    throw error;
  }
}
