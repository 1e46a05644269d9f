/** A video or an image on the disk. */
export interface LocalMedia {
  path: string;
  /** Name of the file, behind the folders that were added with it: `Trip/Day 1/a.jpg`. */
  name: string;
  kind: "video" | "image";
  bytes: number;
  /** Time of the last change, in ms. */
  changedAt: number;
  /** Path of a transcript of a video. */
  transcript?: string;
  /** Duration of a video, if it is known. */
  seconds?: number;
}

/** Bytes of a second of video, to guess a duration. */
const BYTES_PER_SECOND = 400_000;
/** Work of a second of video, in images: a minute takes as long as twelve. */
const WORK_PER_SECOND = 0.2;

/** Estimates the work of ingesting a file, in images. Guesses an unknown duration from the size. */
export function estimateWork({
  kind,
  bytes,
  seconds = bytes / BYTES_PER_SECOND,
}: Pick<LocalMedia, "kind" | "bytes" | "seconds">): number {
  return kind === "image" ? 1 : 1 + seconds * WORK_PER_SECOND;
}
