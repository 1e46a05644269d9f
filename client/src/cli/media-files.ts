import { open } from "node:fs/promises";
import { resolve } from "node:path";
import { type ListedFiles, listFiles, nameFiles, type SkippedPath } from "../list-files.ts";
import type { LocalMedia } from "../local-media.ts";
import { findTranscripts } from "../sidecars.ts";
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
  /** Links that aren't followed, and transcripts beside videos that aren't taken. */
  refused: SkippedPath[];
}

/**
 * Finds the videos and images among files, folders and URLs, and the transcript beside each video.
 * Throws a readable error if a path doesn't exist.
 */
export async function selectMedia(
  sources: readonly string[],
  followsLinks = false,
): Promise<MediaSelection> {
  const urls = sources.filter(isWebUrl);
  const paths = sources.filter((source) => !isWebUrl(source)).map((path) => resolve(path));
  const lists = await Promise.all(paths.map((path) => listPath(path, followsLinks)));
  const roots = new Map(lists.flatMap(({ root, files }) => files.map((path) => [path, root])));
  const names = nameFiles(paths, lists);
  const files: LocalMedia[] = [];
  for (const path of roots.keys()) {
    const file = await readMedia(path, names.get(path)!).catch(listAsUnreadable);
    if (file) files.push(file);
  }
  const videos = files.filter(({ kind }) => kind === "video");
  const beside = await findTranscripts(new Map(videos.map(({ path }) => [path, roots.get(path)!])));
  for (const video of videos) {
    const transcript = beside.transcripts.get(video.path);
    if (transcript !== undefined) video.transcript = transcript;
  }
  const refused = [...lists.flatMap(({ links }) => links), ...beside.skipped];
  const reasons = new Map(refused.map((file) => [file.path, file]));
  const added = new Set(files.flatMap(({ path, transcript }) => [path, transcript]));
  const others = [...roots.keys()].filter((path) => !added.has(path) && !reasons.has(path));
  return {
    files,
    urls: [...new Set(urls)],
    unreadable: others.filter((path) => paths.includes(path)),
    skipped: others.filter((path) => !paths.includes(path)),
    refused: [...reasons.values()],
  };
}

async function listPath(path: string, followsLinks: boolean): Promise<ListedFiles> {
  return listFiles(path, followsLinks).catch((cause: unknown) => {
    throw new MissingError(`There is no file or folder at ${path}.`, { cause });
  });
}

/** Leaves a file that can't be read to the list of unreadable ones. */
function listAsUnreadable(): null {
  return null;
}

async function readMedia(path: string, name: string): Promise<LocalMedia | null> {
  const handle = await open(path);
  try {
    const { buffer, bytesRead } = await handle.read(new Uint8Array(HEAD_BYTES), 0, HEAD_BYTES, 0);
    const kind = await mediaKind(buffer.subarray(0, bytesRead));
    if (kind === null) return null;
    const { size, mtimeMs } = await handle.stat();
    return { path, name, kind, bytes: size, changedAt: Math.trunc(mtimeMs) };
  } finally {
    await handle.close();
  }
}
