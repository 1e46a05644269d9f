import { mkdtempSync, rmSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A temporary folder of this process. */
export interface WorkFolder {
  path: string;
  /** Returns the path of a new file, which the caller removes. */
  newPath(): string;
  /** Runs `work` with the path of a new file and removes the file afterwards. */
  withFile<T>(work: (path: string) => Promise<T>): Promise<T>;
  /** Removes the folder and its contents. */
  remove(): void;
}

export function createWorkFolder(): WorkFolder {
  const folder = mkdtempSync(join(tmpdir(), "engine-"));
  let files = 0;
  const newPath = () => join(folder, String(files++));
  return {
    path: folder,
    newPath,
    async withFile(work) {
      const path = newPath();
      try {
        return await work(path);
      } finally {
        await rm(path, { force: true });
      }
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/**
 * Creates a work folder that is removed when this process ends. Ends the process on SIGTERM, SIGINT
 * and uncaught exceptions, which would leave it.
 */
export function createProcessFolder(): WorkFolder {
  const folder = createWorkFolder();
  process.on("exit", () => folder.remove());
  process.on("uncaughtException", (error) => {
    console.error(error);
    process.exit(1);
  });
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => process.exit(0));
  return folder;
}
