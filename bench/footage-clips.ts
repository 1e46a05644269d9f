import { join } from "node:path";
import { openMedia } from "../local/engine/media-source.ts";
import { type Take, writeFilm } from "./films.ts";

/** A film that is stored. */
export interface Film {
  path: string;
  seconds: number;
}

/** A clip that is asked about, and where it is from. */
export interface Footage {
  edit: string;
  path: string;
  film: Film;
  /** In seconds of the film. */
  start: number;
  end: number;
  /** The part of the clip to ask about, in seconds of the clip; all of it where that is null. */
  region: { start: number; end: number } | null;
}

const SMALL = "scale='min(640,iw)':-2";
const HALF = "scale=trunc(iw/4)*2:-2";
const CROP = "crop=trunc(iw*0.4)*2:trunc(ih*0.4)*2";
const BARS = "pad=iw:trunc(ih*0.67)*2:0:(oh-ih)/2";

interface Edit {
  filters: string;
  quality?: number;
  /** How fast the film runs over the clip. */
  speed?: number;
}

export const EDITS: Record<string, Edit> = {
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

/** Numbers between 0 and 1 that are the same in each run (Park and Miller, 1988). */
export function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
}

export async function lengthOf(path: string): Promise<number> {
  const source = await openMedia(path);
  try {
    return source.durationSeconds ?? 0;
  } finally {
    await source.close();
  }
}

/** Films of several clips each, dealt out in turn. */
export async function joinClips(
  paths: string[],
  count: number,
  folder: string,
  signal: AbortSignal,
): Promise<Film[]> {
  const fill = "scale=640:360:force_original_aspect_ratio=increase,crop=640:360";
  const films: Film[] = [];
  for (let i = 0; i < count; i++) {
    const takes: Take[] = [];
    for (const path of paths.filter((_, at) => at % count === i)) {
      takes.push({ path, start: 0, end: await lengthOf(path), filters: fill });
    }
    const path = join(folder, `joined-${i}.mp4`);
    const seconds = (await writeFilm(path, takes, 23, signal)).at(-1)!;
    films.push({ path, seconds });
  }
  return films;
}

/** One clip for each edit, of a stretch of 3 to 10 s of a film; every other one with 2 s around it that aren't asked about. */
export async function cutFootage(
  film: Film,
  edits: string[],
  folder: string,
  random: () => number,
  signal: AbortSignal,
): Promise<Footage[]> {
  const footage: Footage[] = [];
  for (const edit of edits) {
    const { filters, quality = 23, speed = 1 } = EDITS[edit]!;
    const length = Math.min(film.seconds, 3 + 7 * random());
    const start = (film.seconds - length) * random();
    const end = start + length;
    const name = `${Math.round(random() * 1e9)}.mp4`;
    const path = join(folder, name);
    const isPart = random() < 0.5;
    const around = isPart ? 2 : 0;
    const take = {
      path: film.path,
      start: Math.max(0, start - around),
      end: Math.min(film.seconds, end + around),
    };
    await writeFilm(path, [{ ...take, filters: `${SMALL},${filters}` }], quality, signal);
    const inClip = (seconds: number) => (seconds - take.start) / speed;
    const region = isPart ? { start: inClip(start), end: inClip(end) } : null;
    footage.push({ edit, path, film, start, end, region });
  }
  return footage;
}
