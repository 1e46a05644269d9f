import { constants } from "node:fs";
import { access, open, readdir, stat } from "node:fs/promises";
import { extname, join } from "node:path";
import { fileTypeFromBuffer } from "file-type";
import { HEAD_BYTES, sniffMediaType } from "../src/media/media-type.ts";

export interface MediaFile {
  path: string;
  kind: "video" | "image";
  /** Path of a subtitle file with the same name. */
  transcript?: string;
  metadata?: Record<string, string | number>;
}

export interface SkippedFile {
  path: string;
  /** What its bytes are instead of a video or an image: "empty", "text/html". */
  contents: string;
}

export interface MediaFiles {
  media: MediaFile[];
  skipped: SkippedFile[];
}

const SUBTITLES = ".srt .vtt .ass .ssa .ttml .dfxp .sbv .lrc .scc .smi .tsv".split(" ");

/**
 * Finds videos and images in `paths` and the folders among them by their first bytes. Throws a
 * readable error if a path doesn't exist.
 */
export async function findMedia(paths: string[]): Promise<MediaFiles> {
  const files = (await Promise.all(paths.map(listPath))).flat();
  const found: MediaFiles = { media: [], skipped: [] };
  const bySubtitle = new Map(files.map((path) => [withLowerExtension(path), path]));
  const used = new Set<string>();
  for (const path of new Set(files)) {
    const head = await readHead(path).catch(ignoreUnreadable);
    if (!head) {
      found.skipped.push({ path, contents: "unreadable" });
      continue;
    }
    const type = await sniffMediaType(head).catch(ignoreUnreadable);
    const kind = type?.assetType;
    if (kind === "video") {
      const base = path.slice(0, -extname(path).length);
      const transcript = await findReadable(
        SUBTITLES.flatMap((suffix) => bySubtitle.get(base + suffix) ?? []),
      );
      if (transcript) used.add(transcript);
      found.media.push({ path, kind, ...(transcript && { transcript }) });
    } else if (kind === "image") {
      found.media.push({ path, kind });
    } else {
      const mime = (await fileTypeFromBuffer(head))?.mime;
      const contents = head.length === 0 ? "empty" : (mime ?? "of an unknown format");
      found.skipped.push({ path, contents });
    }
  }
  return { ...found, skipped: found.skipped.filter(({ path }) => !used.has(path)) };
}

async function readHead(path: string): Promise<Uint8Array> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(new Uint8Array(HEAD_BYTES), 0, HEAD_BYTES, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

function withLowerExtension(path: string): string {
  const extension = extname(path);
  return path.slice(0, path.length - extension.length) + extension.toLowerCase();
}

/** Returns the first of the files that can be opened. */
async function findReadable(paths: string[]): Promise<string | undefined> {
  for (const path of paths) {
    const isReadable = await access(path, constants.R_OK).then(
      () => true,
      () => false,
    );
    if (isReadable) return path;
  }
  return undefined;
}

async function listPath(path: string): Promise<string[]> {
  const entry = await stat(path).catch((cause: unknown) => {
    throw new Error(`There is no file or folder at ${path}.`, { cause });
  });
  return entry.isDirectory() ? listFolder(path) : [path];
}

/** Ignores that a file or a folder can't be read: it doesn't stop the others. */
function ignoreUnreadable(): undefined {}

/** Lists the files below a folder but hidden ones and those of hidden folders. */
async function listFolder(folder: string): Promise<string[]> {
  const files: string[] = [];
  for (const child of (await readdir(folder, { withFileTypes: true }).catch(ignoreUnreadable)) ??
    []) {
    if (child.name.startsWith(".")) continue;
    const path = join(folder, child.name);
    if (child.isDirectory()) files.push(...(await listFolder(path)));
    else if (child.isFile()) files.push(path);
  }
  return files.sort();
}
