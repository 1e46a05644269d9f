import { SHOTS } from "../config.ts";
import type { Cue, SmallStill } from "../types.ts";
import { type Cut, lengthOf } from "./cut.ts";
import { levelsOf } from "./seen-stills.ts";
import { countFirst } from "./sorted.ts";
import { toShownMs } from "./stretches.ts";

/** Levels between two stills that nobody sees. */
const CALM = 1;

/** A moment of a shot, and by how many levels (mean absolute difference) it changes there. */
interface Moment {
  ms: number;
  /** From the still before. */
  step: number;
  /** From the one before or to the one after, whichever is more. */
  motion: number;
}

/**
 * Splits a shot, of which these are the stills, into `count` pieces of about the same length. A border may
 * lie off by `SHOTS.slack` of a piece: first of all where the picture changes far more than is usual in the
 * shot; else where nobody speaks, for long; and there, or wherever it may lie, at the stillest moment, the
 * nearest of several. Stills and silences are in order.
 */
export function splitAtPauses(
  shot: Cut,
  count: number,
  stills: readonly SmallStill[],
  silences: readonly Cut[],
): Cut[] {
  if (count <= 1) return [shot];
  const seen = momentsOf(stills);
  const piece = lengthOf(shot) / count;
  const slack = SHOTS.slack * Math.min(piece, SHOTS.pieceSeconds * 1000);
  const edges = Array.from({ length: count - 1 }, (_, i) => {
    const even = shot.startMs + Math.round((i + 1) * piece);
    const window = { startMs: even - slack, endMs: even + slack };
    return borderWithin(window, even, seen, silences);
  });
  const all = [shot.startMs, ...edges, shot.endMs];
  return all.slice(1).map((endMs, i) => ({ startMs: all[i]!, endMs }));
}

/** When none of the cues is spoken, in order: also the moments, of no length, between two that touch. */
export function silencesOf(cues: readonly Cue[], durationMs: number): Cut[] {
  const silences: Cut[] = [];
  let startMs = 0;
  for (const { start, end } of cues.toSorted((a, b) => a.start - b.start)) {
    const endMs = Math.min(durationMs, Math.round(start * 1000));
    if (endMs >= startMs) silences.push({ startMs, endMs });
    startMs = Math.max(startMs, Math.round(end * 1000));
  }
  if (cues.length > 0 && startMs < durationMs) silences.push({ startMs, endMs: durationMs });
  return silences;
}

function borderWithin(
  window: Cut,
  even: number,
  { moments, usual }: { moments: Moment[]; usual: number },
  silences: readonly Cut[],
): number {
  const near = moments.slice(
    countFirst(moments, ({ ms }) => ms < window.startMs),
    countFirst(moments, ({ ms }) => ms <= window.endMs),
  );
  const [change] = near.toSorted((a, b) => b.step - a.step);
  const standsOut = Math.max(SHOTS.change.levels, SHOTS.change.ratio * (usual + CALM));
  if (change && change.step >= standsOut) return change.ms;
  const silence = longestWithin(window, even, silences);
  const quiet = silence ? near.filter(({ ms }) => isWithin(silence, ms)) : near;
  const least = Math.min(...quiet.map(({ motion }) => motion));
  const isStill = ({ motion }: Moment) => motion <= least + CALM;
  const around = [quiet.findLast(({ ms }) => ms <= even), quiet.find(({ ms }) => ms >= even)];
  if (around.every((moment) => moment && isStill(moment))) return even;
  const [still] = quiet
    .filter(isStill)
    .sort((a, b) => Math.abs(a.ms - even) - Math.abs(b.ms - even));
  return still?.ms ?? (silence ? middleOf(silence) : even);
}

/** Of the silences, as far as they are in the window, the longest; the nearest to `even` of several. */
function longestWithin(window: Cut, even: number, silences: readonly Cut[]): Cut | undefined {
  const reaching = silences.slice(
    countFirst(silences, ({ endMs }) => endMs < window.startMs),
    countFirst(silences, ({ startMs }) => startMs <= window.endMs),
  );
  const inside = reaching.map(({ startMs, endMs }) => ({
    startMs: Math.max(window.startMs, startMs),
    endMs: Math.min(window.endMs, endMs),
  }));
  const off = (silence: Cut) => Math.abs(middleOf(silence) - even);
  return inside.sort((a, b) => lengthOf(b) - lengthOf(a) || off(a) - off(b))[0];
}

function momentsOf(stills: readonly SmallStill[]): { moments: Moment[]; usual: number } {
  const levels = stills.map(({ thumbnail }) => levelsOf(thumbnail));
  const steps = levels.map((own, i) => (i === 0 ? 0 : difference(levels[i - 1]!, own)));
  const moments = stills.map(({ seconds }, i) => {
    const motion = Math.max(steps[i]!, steps[i + 1] ?? 0);
    return { ms: toShownMs(seconds), step: steps[i]!, motion };
  });
  const usual = steps.toSorted((a, b) => a - b)[Math.floor(steps.length / 2)] ?? 0;
  return { moments, usual };
}

/** Mean absolute, in levels. */
function difference(a: Uint8Array, b: Uint8Array): number {
  return a.reduce((sum, level, i) => sum + Math.abs(level - b[i]!), 0) / a.length;
}

function middleOf({ startMs, endMs }: Cut): number {
  return Math.round((startMs + endMs) / 2);
}

function isWithin({ startMs, endMs }: Cut, ms: number): boolean {
  return ms >= startMs && ms <= endMs;
}
