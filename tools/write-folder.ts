import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";

/**
 * Lets `write` fill a folder that doesn't exist yet; a folder that exists stays as it is. The
 * folder appears complete or not at all, and a reader never loses it, even if several processes
 * write it at once.
 */
export async function writeFolderOnce(
  folder: string,
  write: (partial: string) => Promise<void>,
): Promise<void> {
  if (existsSync(folder)) return;
  await mkdir(dirname(folder), { recursive: true });
  const partial = await mkdtemp(`${folder}.`);
  try {
    await write(partial);
    await rename(partial, folder);
  } catch (error) {
    if (!existsSync(folder)) throw error; // else another process has written it in the meantime
  } finally {
    await rm(partial, { recursive: true, force: true });
  }
}
