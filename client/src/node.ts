import { openAsBlob } from "node:fs";
import { basename } from "node:path";

/** Opens a file to upload. It is read from the disk while it is sent, never as a whole. */
export async function openFile(path: string): Promise<File> {
  return new File([await openAsBlob(path)], basename(path));
}
