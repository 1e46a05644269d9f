import { readFile } from "node:fs/promises";
import { openFile } from "../open-file.ts";
import { MissingError } from "./failure.ts";

/** Opens a file to upload, which isn't read before. Throws a readable error. */
export async function openLocalFile(path: string): Promise<File> {
  return openFile(path).catch((cause: unknown) => {
    throw unreadable(path, cause);
  });
}

/** Reads a text file. Throws a readable error. */
export async function readLocalText(path: string): Promise<string> {
  return readFile(path, "utf8").catch((cause: unknown) => {
    throw unreadable(path, cause);
  });
}

function unreadable(path: string, cause: unknown): Error {
  return new MissingError(`There is no file at ${path} that can be read.`, { cause });
}
