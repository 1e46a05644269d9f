import { type Moment, toCutList } from "../../src/exports/cut-list.ts";
import type { Asset } from "../../src/types.ts";
import type { Random } from "../../tools/random-numbers.ts";

/** Makes a part of a video of two hours, with what a test is about. */
export function cutOf(
  asset: Partial<Asset>,
  startMs: number,
  endMs: number,
  text: Partial<Pick<Moment, "name" | "url" | "label" | "note" | "score">> = {},
): Moment {
  const facts = { assetId: "vid_1", assetType: "video", title: "film.mp4", technical: {} };
  const size = { width: 1920, height: 1080, fps: 25, durationMs: 7_200_000, hasAudio: true };
  const video = { ...facts, ...size, ...asset } as Asset;
  const name = video.title;
  const texts = { name, url: encodeURIComponent(name), label: name, note: "", score: null };
  return { asset: video, startMs, endMs, ...texts, ...text };
}

/** Frames a second of cameras: exact, as rounded by containers, and of variable rates. */
const RATES = [
  23.976,
  24000 / 1001,
  24,
  25,
  29.97,
  30000 / 1001,
  30,
  47.952,
  48,
  50,
  59.94,
  60,
  90,
  100,
  119.88,
  120,
  12.5,
  15.4,
  29.412,
  127,
];
const WORDS = [
  "boat",
  'a <b> & "c"',
  "עותק (2)",
  "日本|x",
  "ok; =1+1",
  "naïve\u2028line",
  "é\u0000",
];

/** Makes moments of up to four sources of any kind, in any order. */
export function randomMoments(random: Random, maxCuts = 12): Moment[] {
  const pick = <T>(list: readonly T[]) => list[Math.floor(random() * list.length)]!;
  const sources = Array.from({ length: 1 + Math.floor(random() * 4) }, (_, i): Partial<Asset> => {
    const kind = pick(["video", "video", "video", "sound", "image"]);
    const start = `${pick(["00", "01", "10", "23"])}:59:${pick(["00", "58"])}${pick([":", ";"])}0${pick([0, 5])}`;
    return {
      assetId: `vid_${i}` as Asset["assetId"],
      assetType: kind === "image" ? "image" : "video",
      title: `${pick(WORDS)} ${pick([1, i])}.mp4`,
      fps: kind === "video" ? pick([...RATES, null]) : null,
      hasAudio: kind === "sound" || (kind === "video" && random() < 0.7),
      durationMs: kind === "image" ? 0 : 1000 + Math.floor(random() * 7_200_000),
      ...(kind === "sound" && { width: null, height: null }),
      technical: {
        ...(kind === "sound" && { has_video: false }),
        ...(random() < 0.5 && kind !== "image" && { start_timecode: start }),
        ...(random() < 0.2 && { pixel_aspect: pick([1.422, 1.333, 0.909]) }),
      },
    };
  });
  return Array.from({ length: 1 + Math.floor(random() * maxCuts) }, () => {
    const asset = pick(sources);
    const startMs = Math.floor(random() * asset.durationMs!);
    const endMs = Math.min(asset.durationMs!, startMs + 1 + Math.floor(random() ** 3 * 600_000));
    const score = random() < 0.5 ? null : random();
    return cutOf(asset, startMs, endMs, { label: pick(WORDS), note: pick(["", ...WORDS]), score });
  });
}

export const listOf = (moments: Moment[], options = {}, isCounted = false) =>
  toCutList(moments, { title: "Film", ...options }, isCounted);
