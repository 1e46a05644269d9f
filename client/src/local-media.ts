/** A video or an image on the disk. */
export interface LocalMedia {
  path: string;
  /** Name of the file. */
  name: string;
  kind: "video" | "image";
  bytes: number;
  /** Time of the last change, in ms. */
  changedAt: number;
  /** Path of a transcript of a video. */
  transcript?: string;
}
