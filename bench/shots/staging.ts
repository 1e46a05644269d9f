import type { Span } from "./match.ts";

/** Packed RGB, rows from the top. */
export type Picture = Uint8Array;

export interface Staged {
  pictures: Picture[];
  truth: Span[];
}

/** Shares of the transitions; the rest are cuts. */
const GRADUAL = { dissolve: 0.3, fade: 0.2 };
const FRAMES = { least: 8, most: 25 };
/** Every so many shots one has a flash, of so many frames, as far from its ends. */
const FLASH = { share: 0.2, most: 3, margin: 15, level: 170, fading: 30 };

/**
 * Puts shots together with cuts, dissolves and fades through black of 8 to 25 frames, and flashes in them.
 * Shots have 20 pictures at least.
 */
export function stage(shots: Picture[][], random: () => number): Staged {
  const pictures: Picture[] = [];
  const truth: Span[] = [];
  let current: Picture[] = [];
  for (const [i, shot] of shots.entries()) {
    const next = withFlash(shot, random);
    const kind = random();
    const wanted = FRAMES.least + Math.floor(random() * (FRAMES.most - FRAMES.least + 1));
    const count = Math.min(wanted, current.length - FRAMES.least, next.length - FRAMES.least);
    if (i === 0) {
      current = next;
    } else if (kind >= GRADUAL.dissolve + GRADUAL.fade || count < FRAMES.least) {
      pictures.push(...current);
      truth.push({ kind: "cut", from: pictures.length - 1, to: pictures.length });
      current = next;
    } else {
      pictures.push(...current.slice(0, -count));
      const from = pictures.length - 1;
      const [out, into] = [current.slice(-count), next.slice(0, count)];
      const weights = kind < GRADUAL.dissolve ? dissolve : fade;
      pictures.push(...out.map((picture, at) => mix(picture, into[at]!, weights, at, count)));
      truth.push({ kind: "gradual", from, to: pictures.length });
      current = next.slice(count);
    }
  }
  pictures.push(...current);
  return { pictures, truth };
}

type Weights = (share: number) => [before: number, after: number];

const dissolve: Weights = (share) => [1 - share, share];
const fade: Weights = (share) => [Math.max(0, 1 - 2 * share), Math.max(0, 2 * share - 1)];

function mix(a: Picture, b: Picture, weights: Weights, at: number, count: number): Picture {
  const [before, after] = weights((at + 1) / (count + 1));
  return a.map((value, i) => value * before + b[i]! * after);
}

function withFlash(shot: Picture[], random: () => number): Picture[] {
  const room = shot.length - 2 * FLASH.margin;
  if (random() > FLASH.share || room < 1) return shot;
  const first = FLASH.margin + Math.floor(random() * room);
  const count = 1 + Math.floor(random() * FLASH.most);
  return shot.map((picture, at) => {
    if (at < first || at >= first + count) return picture;
    const level = FLASH.level - FLASH.fading * (at - first);
    return picture.map((value) => Math.min(255, value * 0.4 + level));
  });
}
