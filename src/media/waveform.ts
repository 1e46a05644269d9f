import { maxOf } from "../lists.ts";
import { WAVEFORM } from "../parameters.ts";
import type { TimeRangeMs } from "../time-range.ts";

const FULL_SCALE = 255;

/** Returns the cells in which amplitudes are measured. A peak has `count / WAVEFORM.peaks`. */
export function cellsOf(durationMs: number): { count: number; cellMs: number } {
  const perPeak = Math.max(1, Math.ceil(durationMs / WAVEFORM.peaks / WAVEFORM.maxCellMs));
  const count = WAVEFORM.peaks * perPeak;
  return { count, cellMs: durationMs / count };
}

/** Returns the range of cells that a part of the audio has. Ranges have no gap or overlap. */
export function cellRange(count: number, part: number, partCount: number) {
  const boundary = (index: number) => Math.floor((index * count) / partCount);
  return { from: boundary(part), to: boundary(part + 1) };
}

/** Makes a waveform of the bytes of all cells: amplitudes from 0 to 1, with two decimals. */
export function toWaveform(cells: Uint8Array): number[] {
  const perPeak = cells.length / WAVEFORM.peaks;
  return Array.from({ length: WAVEFORM.peaks }, (_, i) => {
    const peak = maxOf(cells.subarray(i * perPeak, (i + 1) * perPeak));
    return Math.round((peak / FULL_SCALE) * 100) / 100;
  });
}

/**
 * Finds the pauses of at least `WAVEFORM.minPauseMs`, in order: runs of cells that are quiet
 * beside the loud ones. None in digital silence.
 */
export function findPauses(cells: Uint8Array, durationMs: number): TimeRangeMs[] {
  const loud = cells.toSorted()[Math.floor(WAVEFORM.loudQuantile * (cells.length - 1))] ?? 0;
  const cellMs = durationMs / cells.length;
  const pauses: TimeRangeMs[] = [];
  if (loud === 0) return pauses;
  let from = 0;
  for (let i = 0; i <= cells.length; i++) {
    if (i < cells.length && cells[i]! <= WAVEFORM.pauseShare * loud) continue;
    const isLongEnough = (i - from) * cellMs >= WAVEFORM.minPauseMs;
    if (isLongEnough) {
      pauses.push({ startMs: Math.round(from * cellMs), endMs: Math.round(i * cellMs) });
    }
    from = i + 1;
  }
  return pauses;
}
