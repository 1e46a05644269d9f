import { toFileName } from "../sanitize.ts";
import type { Clip } from "./clip.ts";

/** Frame rate of a file whose rate isn't known. */
const DEFAULT_FPS = 25;
const MEDIA_KEY = "DEFAULT_MEDIA";

/**
 * Makes an OpenTimelineIO document: the clips one after the other on one video track. A clip refers
 * to its file by name, so that an editor finds it in a folder of the originals.
 */
export function toOtio(name: string, clips: readonly Clip[]): Record<string, unknown> {
  return {
    OTIO_SCHEMA: "Timeline.1",
    name,
    metadata: {},
    global_start_time: null,
    tracks: {
      ...item("Stack.1", "tracks"),
      children: [{ ...item("Track.1", "Video"), kind: "Video", children: clips.map(toOtioClip) }],
    },
  };
}

function toOtioClip(clip: Clip): Record<string, unknown> {
  const fps = clip.fps ?? DEFAULT_FPS;
  const { segmentId, videoId, caption, transcript } = clip;
  const start = Math.round(clip.startSeconds * fps);
  const end = Math.max(start + 1, Math.round(clip.endSeconds * fps));
  const available =
    clip.durationSeconds === null
      ? null
      : timeRange(0, Math.max(end, Math.round(clip.durationSeconds * fps)), fps);
  return {
    ...item("Clip.2", clip.title),
    source_range: timeRange(start, end - start, fps),
    media_references: {
      [MEDIA_KEY]: {
        OTIO_SCHEMA: "ExternalReference.1",
        name: clip.title,
        metadata: {},
        target_url: encodeURIComponent(toFileName(clip.title) || clip.videoId),
        available_range: available,
        available_image_bounds: null,
      },
    },
    active_media_reference_key: MEDIA_KEY,
    metadata: {
      sightline: { segment_id: segmentId, video_id: videoId, caption, transcript },
    },
  };
}

/** Makes the fields that every item of a timeline has. */
function item(schema: string, name: string): Record<string, unknown> {
  return {
    OTIO_SCHEMA: schema,
    name,
    metadata: {},
    source_range: null,
    effects: [],
    markers: [],
    enabled: true,
  };
}

function timeRange(start: number, duration: number, rate: number): Record<string, unknown> {
  return {
    OTIO_SCHEMA: "TimeRange.1",
    start_time: { OTIO_SCHEMA: "RationalTime.1", rate, value: start },
    duration: { OTIO_SCHEMA: "RationalTime.1", rate, value: duration },
  };
}
