import type { Segment } from "../../index.ts";

/** A segment that an export lists: a hit, or a segment named by its id. */
export type ExportedSegment = Segment & { rank?: number; score?: number };

/** A segment of a video, with the data of its file. */
export interface Clip {
  segmentId: string;
  videoId: string;
  /** Name of the file. */
  title: string;
  caption: string;
  transcript: string;
  startSeconds: number;
  endSeconds: number;
  /** Frame rate of the file; null if it isn't known. */
  fps: number | null;
  /** Length of the file; null if it isn't known. */
  durationSeconds: number | null;
}

/** Makes a clip of a segment; null for an image, which has no time range. */
export function toClip(
  segment: ExportedSegment,
  file: { fps: number | null; duration_seconds: number | null } | undefined,
): Clip | null {
  const { start_seconds: startSeconds, end_seconds: endSeconds, video_id: videoId } = segment;
  if (startSeconds === null || endSeconds === null || videoId === null) return null;
  return {
    segmentId: segment.segment_id,
    videoId,
    title: segment.title,
    caption: segment.caption,
    transcript: segment.transcript,
    startSeconds,
    endSeconds,
    fps: file?.fps ?? null,
    durationSeconds: file?.duration_seconds ?? null,
  };
}
