import { readdir, stat } from "node:fs/promises";
import { extname, join } from "node:path";
import { fileTypeFromFile } from "file-type";

export interface MediaFile {
  path: string;
  kind: "video" | "image";
  /** A file of subtitles with the same name. */
  transcript?: string;
  metadata?: Record<string, string | number>;
}

export interface MediaFiles {
  media: MediaFile[];
  /** Paths of files that are neither videos nor pictures. */
  skipped: string[];
}

const SUBTITLES = [".srt", ".vtt"];

/**
 * The videos and pictures among `paths` and in the folders among them, told by their bytes. Throws a
 * sentence where a path doesn't exist.
 */
export async function findMedia(paths: string[]): Promise<MediaFiles> {
  const files = (await Promise.all(paths.map(listFiles))).flat();
  const found: MediaFiles = { media: [], skipped: [] };
  const beside = new Set(files);
  const used = new Set<string>();
  for (const path of new Set(files)) {
    const kind = (await fileTypeFromFile(path))?.mime.split("/")[0];
    if (kind === "video") {
      const stem = path.slice(0, -extname(path).length);
      const transcript = SUBTITLES.map((suffix) => stem + suffix).find((file) => beside.has(file));
      if (transcript) used.add(transcript);
      found.media.push({ path, kind, ...(transcript && { transcript }) });
    } else if (kind === "image") {
      found.media.push({ path, kind });
    } else {
      found.skipped.push(path);
    }
  }
  return { ...found, skipped: found.skipped.filter((path) => !used.has(path)) };
}

async function listFiles(path: string): Promise<string[]> {
  const entry = await stat(path).catch(() => null);
  if (!entry) throw new Error(`There is no file or folder at ${path}.`);
  if (!entry.isDirectory()) return [path];
  const entries = await readdir(path, { recursive: true, withFileTypes: true });
  const files = entries.filter((one) => one.isFile() && !one.name.startsWith("."));
  return files.map((one) => join(one.parentPath, one.name)).sort();
}
