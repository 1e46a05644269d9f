import type { SmallStill, Transition } from "../types.ts";
import type { Cut } from "./cut.ts";
import { levelsOf } from "./seen-stills.ts";
import { toShownMs } from "./stretches.ts";

/** As sharp as the sharpest, for the eye. */
const SHARP = 0.9;

/**
 * When the picture is shown that stands for a cut, in ms: a still of it, not in the middle of a transition,
 * from the half that is most like all of them together; of the sharpest of these the one nearest to the
 * middle. Without stills, the middle.
 */
export function keyframeOf(
  { startMs, endMs }: Cut,
  stills: readonly SmallStill[],
  transitions: readonly Transition[],
): number {
  const middle = Math.floor((startMs + endMs) / 2);
  const own = stills.filter(({ seconds }) => {
    const ms = toShownMs(seconds);
    return ms >= startMs && ms < endMs;
  });
  const isSettled = ({ seconds }: SmallStill) =>
    transitions.every(({ from, to }) => seconds <= from || seconds >= to);
  const settled = own.some(isSettled) ? own.filter(isSettled) : own;
  const typical = typicalHalf(settled);
  const sharpest = Math.max(...typical.map(({ sharpness }) => sharpness));
  const [best] = typical
    .filter(({ sharpness }) => sharpness >= SHARP * sharpest)
    .map(({ seconds }) => toShownMs(seconds))
    .sort((a, b) => Math.abs(a - middle) - Math.abs(b - middle));
  return best ?? middle;
}

/** Those that are nearest to the mean of all. */
function typicalHalf(stills: SmallStill[]): SmallStill[] {
  const pictures = stills.map(({ thumbnail }) => levelsOf(thumbnail));
  const sums = new Float64Array(pictures[0]?.length ?? 0);
  for (const picture of pictures) for (const [i, level] of picture.entries()) sums[i]! += level;
  const far = pictures.map((picture) =>
    picture.reduce((sum, level, i) => sum + (level - sums[i]! / pictures.length) ** 2, 0),
  );
  const median = far.toSorted((a, b) => a - b)[Math.floor((far.length - 1) / 2)] ?? 0;
  return stills.filter((_, i) => far[i]! <= median);
}
