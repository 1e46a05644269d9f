import type { FrameTransition } from "./match.ts";

/** Packed RGB, rows from the top. */
export type RgbFrame = Uint8Array;

export interface ComposedShots {
  frames: RgbFrame[];
  truth: FrameTransition[];
}

/** Shares of gradual transitions; the rest are cuts. */
const GRADUAL = { dissolve: 0.3, fade: 0.2 };
/** Length of gradual transitions in frames. */
const TRANSITION_FRAMES = { min: 8, max: 25 };
/**
 * A share of the shots has a flash of up to three frames, at a distance from both ends. `level` is
 * added to 8-bit values, `fading` less with each frame.
 */
const FLASH = { share: 0.2, max: 3, margin: 15, level: 170, decay: 30 };

/**
 * Joins shots with cuts, and with dissolves and fades through black of 8 to 25 frames; adds
 * flashes. Shots have at least 20 frames.
 */
export function composeShots(shots: RgbFrame[][], random: () => number): ComposedShots {
  const frames: RgbFrame[] = [];
  const truth: FrameTransition[] = [];
  let current: RgbFrame[] = [];
  for (const [i, shot] of shots.entries()) {
    const next = withFlash(shot, random);
    const kind = random();
    const transitionFrames =
      TRANSITION_FRAMES.min +
      Math.floor(random() * (TRANSITION_FRAMES.max - TRANSITION_FRAMES.min + 1));
    const count = Math.min(
      transitionFrames,
      current.length - TRANSITION_FRAMES.min,
      next.length - TRANSITION_FRAMES.min,
    );
    if (i === 0) {
      current = next;
    } else if (kind >= GRADUAL.dissolve + GRADUAL.fade || count < TRANSITION_FRAMES.min) {
      frames.push(...current);
      truth.push({ kind: "cut", from: frames.length - 1, to: frames.length });
      current = next;
    } else {
      frames.push(...current.slice(0, -count));
      const from = frames.length - 1;
      const [outgoing, incoming] = [current.slice(-count), next.slice(0, count)];
      const weights = kind < GRADUAL.dissolve ? dissolve : fade;
      frames.push(...outgoing.map((frame, at) => mix(frame, incoming[at]!, weights, at, count)));
      truth.push({ kind: "gradual", from, to: frames.length });
      current = next.slice(count);
    }
  }
  frames.push(...current);
  return { frames, truth };
}

type Weights = (share: number) => [before: number, after: number];

const dissolve: Weights = (share) => [1 - share, share];
const fade: Weights = (share) => [Math.max(0, 1 - 2 * share), Math.max(0, 2 * share - 1)];

function mix(a: RgbFrame, b: RgbFrame, weights: Weights, at: number, count: number): RgbFrame {
  const [before, after] = weights((at + 1) / (count + 1));
  return a.map((value, i) => value * before + b[i]! * after);
}

function withFlash(shot: RgbFrame[], random: () => number): RgbFrame[] {
  const flashRange = shot.length - 2 * FLASH.margin;
  if (random() > FLASH.share || flashRange < 1) return shot;
  const first = FLASH.margin + Math.floor(random() * flashRange);
  const count = 1 + Math.floor(random() * FLASH.max);
  return shot.map((frame, at) => {
    if (at < first || at >= first + count) return frame;
    const level = FLASH.level - FLASH.decay * (at - first);
    return frame.map((value) => Math.min(255, value * 0.4 + level));
  });
}
