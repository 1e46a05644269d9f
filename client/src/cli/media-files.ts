import { open, readdir, stat } from "node:fs/promises";
import { basename, extname, join, resolve } from "node:path";
import type { LocalMedia } from "../local-media.ts";
import { MissingError } from "./failure.ts";
import { HEAD_BYTES, mediaKind } from "./media-kind.ts";
import { isWebUrl } from "./output.ts";

export type MediaKind = LocalMedia["kind"];

export interface MediaSelection {
  files: LocalMedia[];
  urls: string[];
  /** Files that were named, and are neither videos nor images. */
  unreadable: string[];
  /** Other files of the folders. */
  skipped: string[];
}

const TRANSCRIPTS = [".srt", ".vtt", ".json", ".txt"];

/**
 * Finds the videos and images among files, folders and URLs, and the transcript beside each video.
 * Throws a readable error if a path doesn't exist.
 */
export async function selectMedia(sources: readonly string[]): Promise<MediaSelection> {
  const urls = sources.filter(isWebUrl);
  const paths = sources.filter((source) => !isWebUrl(source)).map((path) => resolve(path));
  const listed = new Set((await Promise.all(paths.map(listFiles))).flat());
  const files: LocalMedia[] = [];
  for (const path of listed) {
    const media = await readMedia(path);
    if (!media) continue;
    const transcript = media.kind === "video" ? await findTranscript(path) : undefined;
    files.push({ ...media, ...(transcript !== undefined && { transcript }) });
  }
  const added = new Set(files.flatMap(({ path, transcript }) => [path, transcript]));
  const others = [...listed].filter((path) => !added.has(path));
  return {
    files,
    urls: [...new Set(urls)],
    unreadable: others.filter((path) => paths.includes(path)),
    skipped: others.filter((path) => !paths.includes(path)),
  };
}

async function readMedia(path: string): Promise<LocalMedia | null> {
  const handle = await open(path);
  try {
    const { buffer, bytesRead } = await handle.read(new Uint8Array(HEAD_BYTES), 0, HEAD_BYTES, 0);
    const kind = mediaKind(buffer.subarray(0, bytesRead));
    if (kind === null) return null;
    const { size, mtimeMs } = await handle.stat();
    return { path, name: basename(path), kind, bytes: size, changedAt: Math.trunc(mtimeMs) };
  } finally {
    await handle.close();
  }
}

async function findTranscript(video: string): Promise<string | undefined> {
  const base = video.slice(0, video.length - extname(video).length);
  for (const extension of TRANSCRIPTS) {
    const entry = await stat(base + extension).catch(() => null);
    if (entry?.isFile()) return base + extension;
  }
  return undefined;
}

/** Lists a file, or the files below a folder but hidden ones. */
async function listFiles(path: string): Promise<string[]> {
  const entry = await stat(path).catch(() => null);
  if (!entry) throw new MissingError(`There is no file or folder at ${path}.`);
  if (!entry.isDirectory()) return [path];
  const files: string[] = [];
  for (const child of await readdir(path, { withFileTypes: true })) {
    if (child.name.startsWith(".")) continue;
    if (child.isDirectory()) files.push(...(await listFiles(join(path, child.name))));
    else if (child.isFile()) files.push(join(path, child.name));
  }
  return files.sort();
}
