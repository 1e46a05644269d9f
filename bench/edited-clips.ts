import { join } from "node:path";
import { openMedia } from "../local/engine/media-source.ts";
import { type ClipSpec, writeVideo } from "./synthetic-video.ts";

/** A video file and its duration. */
export interface LocalVideo {
  path: string;
  seconds: number;
}

/** An edited clip of a video, used as a copy-detection query. */
export interface EditedClip {
  edit: string;
  path: string;
  original: LocalVideo;
  /** Start of the clip in the original, in seconds. */
  start: number;
  end: number;
  /** Part of the clip to query, in seconds of the clip; null queries all of it. */
  region: { start: number; end: number } | null;
}

const SMALL = "scale='min(640,iw)':-2";
const HALF = "scale=trunc(iw/4)*2:-2";
const CROP = "crop=trunc(iw*0.4)*2:trunc(ih*0.4)*2";
const BARS = "pad=iw:trunc(ih*0.67)*2:0:(oh-ih)/2";

interface Edit {
  filters: string;
  quality?: number;
  /** Speed of the original within the clip. */
  speed?: number;
}

export const VIDEO_EDITS: Record<string, Edit> = {
  "as it is": { filters: "null" },
  "low bitrate": { filters: "null", quality: 38 },
  "scale 50 %": { filters: HALF },
  "crop 80 %": { filters: CROP },
  mirror: { filters: "hflip" },
  "5 % faster": { filters: "setpts=PTS/1.05", speed: 1.05 },
  "5 % slower": { filters: "setpts=PTS/0.95", speed: 0.95 },
  letterbox: { filters: BARS },
  "crop, faster, low bitrate": { filters: `${CROP},setpts=PTS/1.05`, speed: 1.05, quality: 36 },
  "mirror, slower, half": { filters: `hflip,${HALF},setpts=PTS/0.95`, speed: 0.95 },
};

/** Uniform numbers between 0 and 1, the same for each seed (Park and Miller, 1988). */
export function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
}

export async function readDurationSeconds(path: string): Promise<number> {
  const source = await openMedia(path);
  try {
    return source.durationSeconds ?? 0;
  } finally {
    await source.close();
  }
}

/** Concatenates clips into `count` videos; clip i goes to video i modulo `count`. */
export async function concatClips(
  paths: string[],
  count: number,
  folder: string,
  signal: AbortSignal,
): Promise<LocalVideo[]> {
  const fill = "scale=640:360:force_original_aspect_ratio=increase,crop=640:360";
  const videos: LocalVideo[] = [];
  for (let i = 0; i < count; i++) {
    const clips: ClipSpec[] = [];
    for (const path of paths.filter((_, at) => at % count === i)) {
      clips.push({ path, start: 0, end: await readDurationSeconds(path), filters: fill });
    }
    const path = join(folder, `joined-${i}.mp4`);
    const seconds = (await writeVideo(path, clips, 23, signal)).at(-1)!;
    videos.push({ path, seconds });
  }
  return videos;
}

/**
 * Writes one clip for each edit, of 3 to 10 s of the video. Every second clip, at random, has 2 s
 * more on both sides that lie outside `region`.
 */
export async function writeEditedClips(
  original: LocalVideo,
  edits: string[],
  folder: string,
  random: () => number,
  signal: AbortSignal,
): Promise<EditedClip[]> {
  const edited: EditedClip[] = [];
  for (const edit of edits) {
    const { filters, quality = 23, speed = 1 } = VIDEO_EDITS[edit]!;
    const length = Math.min(original.seconds, 3 + 7 * random());
    const start = (original.seconds - length) * random();
    const end = start + length;
    const name = `${Math.round(random() * 1e9)}.mp4`;
    const path = join(folder, name);
    const isPart = random() < 0.5;
    const around = isPart ? 2 : 0;
    const clip = {
      path: original.path,
      start: Math.max(0, start - around),
      end: Math.min(original.seconds, end + around),
    };
    await writeVideo(path, [{ ...clip, filters: `${SMALL},${filters}` }], quality, signal);
    const inClip = (seconds: number) => (seconds - clip.start) / speed;
    const region = isPart ? { start: inClip(start), end: inClip(end) } : null;
    edited.push({ edit, path, original, start, end, region });
  }
  return edited;
}
