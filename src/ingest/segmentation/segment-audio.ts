import { append } from "../../lists.ts";
import { AUDIO_SEGMENTS } from "../../parameters.ts";
import { lengthMs, type TimeRangeMs } from "../../time-range.ts";
import { longestPause, middleOf } from "./split-long-shots.ts";

const MIN_MS = AUDIO_SEGMENTS.minSeconds * 1000;
const MAX_MS = AUDIO_SEGMENTS.maxSeconds * 1000;

/**
 * Segments sound without pictures, without gaps or overlaps: as long as a part is longer than
 * `AUDIO_SEGMENTS.maxSeconds`, it is split in its longest pause that leaves at least `minSeconds`
 * on either side. This is the segmentation of Potapczyk and Przybysz ("SRPOL's system for the IWSLT
 * 2020 end-to-end speech translation task", 2020). Of pauses of one length the one nearest to the
 * middle of the part decides. `pauseLists` are in order of preference, each in order of time: a
 * list decides where those before it have no pause. A part without any pause is split evenly.
 */
export function segmentAudio(
  durationMs: number,
  pauseLists: readonly (readonly TimeRangeMs[])[],
): TimeRangeMs[] {
  const segments: TimeRangeMs[] = [];
  const parts = [{ startMs: 0, endMs: durationMs }]; // the first one last
  for (let part = parts.pop(); part; part = parts.pop()) {
    const boundaryMs = lengthMs(part) > MAX_MS ? selectBoundary(part, pauseLists) : null;
    if (boundaryMs === null) append(segments, splitEvenly(part));
    else {
      const { startMs, endMs } = part;
      parts.push({ startMs: boundaryMs, endMs }, { startMs, endMs: boundaryMs });
    }
  }
  return segments;
}

function selectBoundary(
  part: TimeRangeMs,
  pauseLists: readonly (readonly TimeRangeMs[])[],
): number | null {
  const range = { startMs: part.startMs + MIN_MS, endMs: part.endMs - MIN_MS };
  for (const pauses of pauseLists) {
    const pause = longestPause(range, middleOf(part), pauses);
    if (pause) return middleOf(pause);
  }
  return null;
}

function splitEvenly({ startMs, endMs }: TimeRangeMs): TimeRangeMs[] {
  const count = Math.max(1, Math.ceil((endMs - startMs) / MAX_MS));
  const edge = (i: number) => startMs + Math.round((i * (endMs - startMs)) / count);
  return Array.from({ length: count }, (_, i) => ({ startMs: edge(i), endMs: edge(i + 1) }));
}
