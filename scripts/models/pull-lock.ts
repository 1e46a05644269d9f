import { mkdir, rm, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { readTextOrEmpty } from "../../tools/read-text.ts";

/**
 * Locks a model by a file with this process's id, so that only one command changes it at a time.
 * The lock of a process that has ended is ignored. Resolves to a function that releases the lock.
 */
export async function lockPull(path: string): Promise<() => Promise<void>> {
  await mkdir(dirname(path), { recursive: true });
  for (;;) {
    try {
      await writeFile(path, String(process.pid), { flag: "wx" });
      return () => rm(path, { force: true });
    } catch (error) {
      if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
    }
    const lockerPid = Number(await readTextOrEmpty(path));
    if (lockerPid > 0 && isRunning(lockerPid)) {
      throw new Error(
        `Process ${lockerPid} holds the lock of this model. If it has ended, delete ${path}`,
      );
    }
    await rm(path, { force: true });
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}
