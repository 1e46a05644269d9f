import { isAudioOnly } from "../asset-kind.ts";
import { toOneLine } from "../clean-text.ts";
import {
  convertFrames,
  frameAt,
  type FrameRate,
  Timecode,
  toCountedRate,
  toFrameRate,
} from "../media/timecode.ts";
import type { TimeRangeMs } from "../time-range.ts";
import type { Asset } from "../types.ts";

/** A file of which a cut list has parts. */
export interface CutSource {
  id: string;
  /** Name of the original file. */
  name: string;
  /** URL at which a program finds the file; a relative one by its name. */
  url: string;
  /** Frames a second as the file states them; null if it has none. */
  fps: number | null;
  /** Numbers of its frames, in the rate in which they are counted. */
  timecode: Timecode;
  /** Frames of the file; null for an image. */
  frames: number | null;
  /** Pixels as stored, but upright; null for sound alone. */
  size: { width: number; height: number } | null;
  /** Width over height of a stored pixel. */
  pixelAspect: number;
  hasVideo: boolean;
  hasAudio: boolean;
}

/** What markers and chapters say of a cut, on one line each. */
interface CutText {
  /** What is seen or said. */
  label: string;
  /** Why it was found; or empty. */
  note: string;
  /** Probability that it is what was searched for; null without a search. */
  score: number | null;
}

/** A part of a source, and its place in the programme, in frames from the first one of either. */
export interface Cut extends CutText {
  source: CutSource;
  sourceIn: number;
  sourceOut: number;
  recordIn: number;
  recordOut: number;
}

/** Parts of files, one after the other. */
export interface CutList {
  title: string;
  timecode: Timecode;
  frames: number;
  size: NonNullable<CutSource["size"]>;
  cuts: Cut[];
}

/** A part of a video that a list is to have, or an image. Sources are the same by their assets. */
export interface Moment extends TimeRangeMs, CutText, Pick<CutSource, "name" | "url"> {
  asset: Asset;
}

export interface CutListOptions {
  title: string;
  /** Frames a second of the programme. Default: those of the first video. */
  fps?: number | undefined;
  /** How much longer each cut is at either end, as far as its file goes. */
  handlesMs?: number;
}

/** How long an image is shown. */
const STILL_MS = 5000;
/** Where editors have programmes begin. */
const PROGRAMME_START = "01:00:00;00";
const DEFAULT_SIZE = { width: 1920, height: 1080 };

/**
 * Makes a cut list of moments: each edge is the nearest frame, and each cut has a frame at least.
 * Images, sound and videos of an unknown rate count in that of the programme. `isCounted` counts
 * frames as timecode does, which has no number for each of fast films.
 */
export function toCutList(
  moments: readonly Moment[],
  { title, fps, handlesMs = 0 }: CutListOptions,
  isCounted: boolean,
): CutList {
  const toRate = (one: number | null) =>
    isCounted ? toCountedRate(toFrameRate(one)) : toFrameRate(one);
  const first = moments.find(({ asset }) => asset.fps !== null)?.asset;
  const timecode = new Timecode(toRate(fps ?? first?.fps ?? null), PROGRAMME_START);
  const sources = new Map<string, CutSource>();
  let frames = 0;
  const cuts = moments.map(({ asset, name, url, startMs, endMs, ...text }): Cut => {
    const [label, note] = [toOneLine(text.label), toOneLine(text.note)];
    const rate = asset.fps === null ? timecode.rate : toRate(asset.fps);
    const source = sources.get(asset.assetId) ?? toSource(asset, rate, { name, url });
    sources.set(asset.assetId, source);
    const end = source.frames ?? frameAt(STILL_MS, rate);
    const [from, to] = source.frames === null ? [0, STILL_MS] : [startMs, endMs];
    const sourceIn = Math.min(frameAt(Math.max(0, from - handlesMs), rate), end - 1);
    const sourceOut = Math.min(Math.max(sourceIn + 1, frameAt(to + handlesMs, rate)), end);
    const recordIn = frames;
    frames += Math.max(1, convertFrames(sourceOut - sourceIn, rate, timecode.rate));
    const place = { sourceIn, sourceOut, recordIn, recordOut: frames };
    return { source, ...place, label, note, score: text.score };
  });
  const { width, height } = first ?? {};
  const size = width && height ? { width, height } : DEFAULT_SIZE;
  return { title: toOneLine(title), timecode, frames, size, cuts };
}

function toSource(
  asset: Asset,
  rate: FrameRate,
  { name, url }: Pick<CutSource, "name" | "url">,
): CutSource {
  const { assetId: id, durationMs, fps, width, height, technical } = asset;
  const start = (technical["start_timecode"] as string | undefined) ?? "00:00:00;00";
  const hasVideo = !isAudioOnly(asset);
  const pixelAspect = (technical["pixel_aspect"] as number | undefined) ?? 1;
  const stored = hasVideo && width && height ? { width, height } : null;
  if (stored && pixelAspect > 1) stored.width = Math.round(stored.width / pixelAspect);
  if (stored && pixelAspect < 1) stored.height = Math.round(stored.height * pixelAspect);
  return {
    id,
    name: toOneLine(name),
    url,
    fps,
    timecode: new Timecode(rate, start),
    frames: asset.assetType === "image" ? null : Math.max(1, frameAt(durationMs, rate)),
    size: stored,
    pixelAspect,
    hasVideo,
    hasAudio: asset.hasAudio === true,
  };
}
