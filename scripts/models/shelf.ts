import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import type { Model, ModelFile } from "./registry.ts";

/** `damaged`: of the right size, or too long, and not what the registry says. */
export type FileState = "missing" | "partial" | "damaged" | "whole";

/** The folder of a model among the others. */
export function modelFolder(models: string, { name }: Model): string {
  return join(models, name);
}

/** What a download is called until it is whole. */
export function partPath(target: string): string {
  return `${target}.part`;
}

/** Reads the whole file and compares its SHA-256. */
export async function checkFile(path: string, file: ModelFile): Promise<FileState> {
  const size = await fileSize(path);
  if (size === null) return (await fileSize(partPath(path))) === null ? "missing" : "partial";
  if (size !== file.bytes) return "damaged";
  return (await digestFile(path)) === file.sha256 ? "whole" : "damaged";
}

/** Bytes of the model that are here, whole files and parts. */
export async function heldBytes(folder: string, files: readonly ModelFile[]): Promise<number> {
  let held = 0;
  for (const { path, bytes } of files) {
    const target = join(folder, path);
    held += Math.min(bytes, (await fileSize(target)) ?? (await fileSize(partPath(target))) ?? 0);
  }
  return held;
}

/** False where there was nothing. */
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

/** SHA-256 in hexadecimal. */
export async function digestFile(path: string): Promise<string> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(path), hash);
  return hash.digest("hex");
}

/** Null where there is no such file. */
export async function fileSize(path: string): Promise<number | null> {
  try {
    return (await stat(path)).size;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
    throw error;
  }
}
