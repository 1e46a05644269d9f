import { mapAtOnce } from "../../src/at-once.ts";

/** What an ingest does to a video's bytes, in order. */
export const MEDIA_STEPS = ["probe", "look", "segment", "sound", "keyframes", "watch"] as const;
export type MediaStep = (typeof MEDIA_STEPS)[number];

/** What it takes from the bindings. */
export interface Counts {
  /** Ranges read from R2, and their bytes. */
  reads: number;
  readBytes: number;
  /** Operations of FRAMES, and the bytes of video that they are given. */
  frames: number;
  frameBytes: number;
  /** Operations of IMAGES. */
  images: number;
}

/** What the Worker of this folder says of a part that it did. */
export interface Done {
  minutes: number;
  segments: number;
  parts: Record<MediaStep, number>;
  counts: Counts;
}

/** What it took, and of what. */
export interface MediaPart extends Counts {
  minutes: number;
  segments: number;
  /** Of each step, in all its parts. */
  seconds: Record<MediaStep, number>;
}

/** Parts of a step that are done at the same time: as many as the engine decodes. */
const AT_ONCE = 2;

/** Does the media part of an ingest, by the Worker of this folder, and nothing else. */
export async function takeMediaPart(
  url: string,
  assetId: string,
  signal: AbortSignal,
): Promise<MediaPart> {
  const seconds = { probe: 0, look: 0, segment: 0, sound: 0, keyframes: 0, watch: 0 };
  const counts: Counts = { reads: 0, readBytes: 0, frames: 0, frameBytes: 0, images: 0 };
  const run = async (step: MediaStep, part: number): Promise<Done> => {
    const query = new URLSearchParams({ asset: assetId, step, part: String(part) }).toString();
    const response = await fetch(`${url}/media?${query}`, { method: "POST", signal });
    if (!response.ok) throw new Error(`${step} ${part}: ${response.status}`);
    const done = (await response.json()) as Done;
    for (const name of Object.keys(counts) as (keyof Counts)[]) counts[name] += done.counts[name];
    return done;
  };
  let known: Done | undefined;
  for (const step of MEDIA_STEPS) {
    const begin = performance.now();
    const parts: number[] = Array.from({ length: known?.parts[step] ?? 1 }, (_, part) => part);
    const done: Done[] = await mapAtOnce(parts, AT_ONCE, (part) => run(step, part));
    seconds[step] = (performance.now() - begin) / 1000;
    known = done.at(-1) ?? known;
  }
  const { minutes, segments } = known!;
  return { ...counts, minutes, segments, seconds };
}
