import { openAsBlob } from "node:fs";
import { basename } from "node:path";

/**
 * Opens a file to upload, under its own name or another. It is
 * read from the disk while it is sent, never as a whole. Throws a
 * readable error.
 */
export async function openFile(path: string, name = basename(path)): Promise<File> {
  const blob = await openAsBlob(path).catch((cause: unknown) => {
    throw new Error(`There is no file at ${path} that can be read.`, { cause });
  });
  return new File([blob], name);
}
