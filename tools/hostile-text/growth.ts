import type { TextFunction } from "./functions.ts";
import { HOSTILE_SHAPES } from "./shapes.ts";

/** How long a function takes for a hostile text, and for one of twice its length. */
export interface Growth {
  function: string;
  shape: string;
  characters: number;
  ms: number;
  /** The time of the double length as a multiple. 1 if both are too short to measure. */
  ratio: number;
}

/** Times below this are noise. */
const MEASURABLE_MS = 8;
/** Runs of which the fastest counts: others compile code or collect garbage. */
const MAX_RUNS = 6;
/** Above it, growth is more than linear. */
export const MAX_RATIO = 2.5;

/**
 * Measures a function with a text of each shape and of `length` characters. Starts short and
 * grows fourfold, so that a slow function is found early: it is then not run with longer texts.
 */
export function* measureGrowth(tested: TextFunction, length: number): Generator<Growth> {
  for (const [shape, textOf] of Object.entries(HOSTILE_SHAPES)) {
    const growth = measureShape(tested.run, textOf, length);
    const ratio = tested.isSquare ? Math.sqrt(growth.ratio) : growth.ratio;
    yield { function: tested.name, shape, ...growth, ratio };
  }
}

function measureShape(
  run: (text: string) => unknown,
  textOf: (length: number) => string,
  length: number,
): Pick<Growth, "characters" | "ms" | "ratio"> {
  for (let characters = Math.min(length, 1000); ; characters = Math.min(length, 4 * characters)) {
    const text = textOf(characters);
    const ms = fastest(run, text, 1);
    const ratio = ms < MEASURABLE_MS ? 1 : growthOf(run, textOf, characters);
    if (ratio > MAX_RATIO || characters === length)
      return { characters, ms: fastest(run, text, 2), ratio };
  }
}

/**
 * Returns the growth from a length to its double. If that is too high, growth from there on counts
 * as well, because a processor's caches and the collection of garbage make single steps too.
 */
function growthOf(
  run: (text: string) => unknown,
  textOf: (length: number) => string,
  characters: number,
): number {
  const growth = growthBetween(run, textOf(characters), textOf(2 * characters));
  if (growth <= MAX_RATIO) return growth;
  return Math.min(growth, growthBetween(run, textOf(2 * characters), textOf(4 * characters)));
}

/** Returns the lowest of several ratios. Below `MEASURABLE_MS`, growth isn't seen. */
function growthBetween(run: (text: string) => unknown, text: string, double: string): number {
  let [once, twice] = [Infinity, Infinity];
  for (let i = 0; i < MAX_RUNS; i++) {
    once = Math.min(once, fastest(run, text, 1));
    twice = Math.min(twice, fastest(run, double, 1));
    if (twice / Math.max(once, MEASURABLE_MS) <= MAX_RATIO) break;
  }
  return twice / Math.max(once, MEASURABLE_MS);
}

/** Returns the least time of the processor, which doesn't count what other programs take. */
function fastest(run: (text: string) => unknown, text: string, runs: number): number {
  let ms = Infinity;
  for (let i = 0; i < runs; i++) {
    const start = process.threadCpuUsage();
    run(text);
    const { user, system } = process.threadCpuUsage(start);
    ms = Math.min(ms, (user + system) / 1000);
  }
  return ms;
}
