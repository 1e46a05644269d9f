import { readFile } from "node:fs/promises";

/** Reads a text file. One that can't be read counts as empty: it isn't written yet. */
export async function readTextOrEmpty(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch {
    return "";
  }
}
