import { open } from "node:fs/promises";
import { fileTypeFromBuffer } from "file-type";
import { findTranscripts, type ListedFiles, listFiles, nameFiles } from "sightline/node";
import { HEAD_BYTES, sniffMediaType } from "../src/media/media-type.ts";

export interface MediaFile {
  path: string;
  /** Name of the file, behind the folders that were added with it; default its own. */
  name?: string;
  kind: "video" | "image";
  /** Path of a transcript beside a video. */
  transcript?: string;
  metadata?: Record<string, string | number>;
}

export interface SkippedFile {
  path: string;
  /** What it is instead of a video or an image: "text/html", "a link that leads nowhere". */
  contents: string;
}

export interface MediaFiles {
  media: MediaFile[];
  skipped: SkippedFile[];
}

/**
 * Finds videos and images in `paths` and the folders among them by their first bytes, and the
 * transcripts beside videos. Throws a readable error if a path doesn't exist.
 */
export async function findMedia(paths: string[], followsLinks = false): Promise<MediaFiles> {
  const lists = await Promise.all(paths.map((path) => listPath(path, followsLinks)));
  const roots = new Map(lists.flatMap(({ root, files }) => files.map((path) => [path, root])));
  const names = nameFiles(paths, lists);
  const media: MediaFile[] = [];
  const others = new Map<string, string>(); // what they contain, by path
  for (const path of roots.keys()) {
    const head = await readHead(path).catch(ignoreUnreadable);
    const type = head && (await sniffMediaType(head).catch(ignoreUnreadable));
    if (type) media.push({ path, name: names.get(path)!, kind: type.assetType });
    else others.set(path, head ? await describeContents(head) : "unreadable");
  }
  const videos = media.filter(({ kind }) => kind === "video");
  const beside = await findTranscripts(new Map(videos.map(({ path }) => [path, roots.get(path)!])));
  for (const video of videos) {
    const transcript = beside.transcripts.get(video.path);
    if (transcript === undefined) continue;
    video.transcript = transcript;
    others.delete(transcript);
  }
  for (const { path, reason } of beside.skipped) others.set(path, `a transcript that ${reason}`);
  for (const { path, reason } of lists.flatMap(({ links }) => links)) {
    others.set(path, `a link that ${reason}`);
  }
  return { media, skipped: [...others].map(([path, contents]) => ({ path, contents })) };
}

async function describeContents(head: Uint8Array): Promise<string> {
  const mime = (await fileTypeFromBuffer(head))?.mime;
  return head.length === 0 ? "empty" : (mime ?? "of an unknown format");
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

async function listPath(path: string, followsLinks: boolean): Promise<ListedFiles> {
  return listFiles(path, followsLinks).catch((cause: unknown) => {
    throw new Error(`There is no file or folder at ${path}.`, { cause });
  });
}

/** Ignores that a file can't be read: it doesn't stop the others. */
function ignoreUnreadable(): undefined {}
