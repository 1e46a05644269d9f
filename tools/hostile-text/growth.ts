import { Script } from "node:vm";
import type { TextFunction } from "./functions.ts";
import { HOSTILE_SHAPES, LONGER_SHAPES } from "./shapes.ts";

/** How long a function takes for a hostile text, and how that grows with its length. */
export interface Growth {
  function: string;
  shape: string;
  characters: number;
  ms: number;
  /** How many times longer it takes when the text is twice as long; 1 if too short to measure. */
  ratio: number;
}

/** Times below this are noise. */
const MEASURABLE_MS = 8;
/** Above it, a text isn't lengthened before the growth is known. */
const SLOW_MS = 100;
/** Runs of which the fastest counts: others compile code or collect garbage. */
const MAX_RUNS = 20;
/** Time of all runs after which they aren't repeated: noise is small beside it. */
const MAX_TOTAL_MS = 10_000;
/** Above it, growth is more than linear. */
export const MAX_RATIO = 2.5;
/** Time after which a call is ended: it would take for ever. */
const HANG_MS = 60_000;

/**
 * Measures a function with a text of each shape and of `length` characters, of which the fastest of
 * so many runs counts. Starts short and grows fourfold, so that a slow function is found early: it
 * is then not run with longer texts.
 */
export function* measureGrowth(
  tested: TextFunction,
  length: number,
  { runs = 1 } = {},
): Generator<Growth> {
  for (const [shape, textOf] of Object.entries(HOSTILE_SHAPES)) {
    const needed = Math.min(tested.maxCharacters, length * (LONGER_SHAPES[shape] ?? 1));
    const growth = measureShape(tested.run, textOf, { length: needed, runs });
    const ratio = tested.isSquare ? Math.sqrt(growth.ratio) : growth.ratio;
    yield { function: tested.name, shape, ...growth, ratio };
  }
}

function measureShape(
  run: (text: string) => unknown,
  textOf: (length: number) => string,
  { length, runs }: { length: number; runs: number },
): Pick<Growth, "characters" | "ms" | "ratio"> {
  for (let characters = Math.min(length, 1000); ; characters = Math.min(length, 4 * characters)) {
    const text = textOf(characters);
    const isLast = characters === length;
    const ms = fastest(run, text, isLast ? runs : 1);
    if (ms === Infinity) return { characters, ms, ratio: Infinity };
    const isMeasured = ms > (isLast ? MEASURABLE_MS : SLOW_MS);
    const ratio = isMeasured ? confirmedGrowth(run, textOf, characters, ms) : 1;
    if (ratio > MAX_RATIO || isLast) return { characters, ms, ratio };
  }
}

/**
 * Returns the growth around a length. If that is too much, it also has to be so around four times
 * the length: collections of garbage begin at some length, but real growth goes on. A longer text
 * that is refused, which takes no longer than `ms`, confirms nothing.
 */
function confirmedGrowth(
  run: (text: string) => unknown,
  textOf: (length: number) => string,
  characters: number,
  ms: number,
): number {
  const near = growthAround(run, textOf, characters);
  const longer = 4 * characters;
  if (near <= MAX_RATIO || fastest(run, textOf(longer), 1) < 2 * ms) return near;
  return Math.min(near, growthAround(run, textOf, longer));
}

/**
 * Returns the growth by the fastest of several runs, from half the length to its double: there 4
 * is linear and 16 is quadratic, and a busy machine makes neither from the other.
 */
function growthAround(
  run: (text: string) => unknown,
  textOf: (length: number) => string,
  characters: number,
): number {
  const [short, long] = [textOf(characters / 2), textOf(2 * characters)];
  let [ofShort, ofLong, ratio, totalMs] = [Infinity, Infinity, Infinity, 0];
  for (let i = 0; i < MAX_RUNS && ratio > MAX_RATIO && totalMs < MAX_TOTAL_MS; i++) {
    const [shortMs, longMs] = [fastest(run, short, 1), fastest(run, long, 1)];
    totalMs += shortMs + longMs;
    [ofShort, ofLong] = [Math.min(ofShort, shortMs), Math.min(ofLong, longMs)];
    ratio = Math.sqrt(ofLong / Math.max(ofShort, MEASURABLE_MS / 2));
  }
  return ratio;
}

/** Runs `globalThis.hostileCall`. Only a script can be ended by its own thread. */
const CALL = new Script("hostileCall()");

/**
 * Returns the least time of the processor, which doesn't count what other programs take; infinite
 * for a call that hangs.
 */
function fastest(run: (text: string) => unknown, text: string, runs: number): number {
  let ms = Infinity;
  Object.assign(globalThis, { hostileCall: () => run(text) });
  for (let i = 0; i < runs; i++) {
    const start = process.threadCpuUsage();
    try {
      CALL.runInThisContext({ timeout: HANG_MS });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ERR_SCRIPT_EXECUTION_TIMEOUT") throw error;
      return Infinity;
    }
    const { user, system } = process.threadCpuUsage(start);
    ms = Math.min(ms, (user + system) / 1000);
  }
  return ms;
}
