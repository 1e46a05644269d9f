import { openAsBlob } from "node:fs";
import { stat } from "node:fs/promises";
import { basename, resolve } from "node:path";

/**
 * Opens a file to upload, under its own name or another. It is
 * read from the disk while it is sent, never as a whole. Throws a
 * readable error.
 */
export async function openFile(path: string, name = basename(path)): Promise<File> {
  const found = await stat(path).catch((cause: unknown) => {
    throw new Error(`There is no file at ${placeOf(path)}.`, { cause });
  });
  if (found.isDirectory()) {
    throw new Error(`${placeOf(path)} is a folder: open each of its files.`);
  }
  const blob = await openAsBlob(path).catch((cause: unknown) => {
    throw new Error(`The file at ${placeOf(path)} can't be read: check who may read it.`, {
      cause,
    });
  });
  return new File([blob], name);
}

/** Names a path as it was given, and what a relative one leads to. */
function placeOf(path: string): string {
  const whole = resolve(path);
  return whole === path ? path : `${path} (${whole})`;
}
