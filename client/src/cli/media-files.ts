import { constants, type Stats } from "node:fs";
import { access, open, readdir, stat } from "node:fs/promises";
import { basename, dirname, extname, join, resolve } from "node:path";
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

const TRANSCRIPTS = ".srt .vtt .ass .ssa .ttml .dfxp .sbv .lrc .scc .smi .tsv .json .txt".split(
  " ",
);

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
    const media = await readMedia(path).catch(listAsUnreadable);
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

/** Leaves a file that can't be read to the list of unreadable ones. */
function listAsUnreadable(): null {
  return null;
}

/** Lists nothing of a folder that can't be read: it doesn't stop the others. */
function listNothing(): [] {
  return [];
}

async function readMedia(path: string): Promise<LocalMedia | null> {
  const handle = await open(path);
  try {
    const { buffer, bytesRead } = await handle.read(new Uint8Array(HEAD_BYTES), 0, HEAD_BYTES, 0);
    const kind = await mediaKind(buffer.subarray(0, bytesRead));
    if (kind === null) return null;
    const { size, mtimeMs } = await handle.stat();
    return { path, name: basename(path), kind, bytes: size, changedAt: Math.trunc(mtimeMs) };
  } finally {
    await handle.close();
  }
}

/** Whether a path is a file that can be opened: a transcript that can't doesn't stop its video. */
async function canRead(path: string): Promise<boolean> {
  const entry = await statOrNull(path);
  if (!entry?.isFile()) return false;
  return access(path, constants.R_OK).then(
    () => true,
    () => false,
  );
}

/** Finds the transcript beside a video, whatever the case of its extension. */
async function findTranscript(video: string): Promise<string | undefined> {
  const stem = basename(video, extname(video));
  const names = await readdir(dirname(video)).catch(listNothing);
  const own = names.filter((name) => basename(name, extname(name)) === stem);
  for (const extension of TRANSCRIPTS) {
    const name = own.find((candidate) => extname(candidate).toLowerCase() === extension);
    if (name !== undefined && (await canRead(join(dirname(video), name)))) {
      return join(dirname(video), name);
    }
  }
  return undefined;
}

/** Returns null for a path that doesn't exist, or whose folder the user can't read. */
async function statOrNull(path: string): Promise<Stats | null> {
  try {
    return await stat(path);
  } catch {
    return null;
  }
}

/** Lists a file, or the files below a folder but hidden ones. */
async function listFiles(path: string): Promise<string[]> {
  const entry = await statOrNull(path);
  if (!entry) throw new MissingError(`There is no file or folder at ${path}.`);
  if (!entry.isDirectory()) return [path];
  const files: string[] = [];
  for (const child of await readdir(path, { withFileTypes: true }).catch(listNothing)) {
    if (child.name.startsWith(".")) continue;
    if (child.isDirectory()) files.push(...(await listFiles(join(path, child.name))));
    else if (child.isFile()) files.push(join(path, child.name));
  }
  return files.sort();
}
