import type { Cue } from "../../types.ts";

/** Longest pause in which a line stays on the screen. */
const MAX_GAP_SECONDS = 1;
/** Share of neighbours with common lines above which captions roll. */
const MIN_ROLLING_SHARE = 0.5;
const MAX_LINES = 8;
/** Longest line that may grow word by word. */
const MAX_LINE = 500;

interface RollingCue {
  cue: Cue;
  lines: string[];
  /** Lines at its beginning that are at the end of the cue before. */
  repeated: number;
  /** Whether its first line continues the last line of the cue before. */
  continues: boolean;
}

/**
 * Returns each line of rolling captions once, at its first time. Captions that don't roll stay as
 * they are: a line that is said twice is there twice.
 */
export function mergeRollingCues(cues: Cue[]): Cue[] {
  const rolling = compareNeighbours(cues);
  const related = rolling.filter(({ repeated, continues }) => repeated > 0 || continues);
  const adds = related.some(
    ({ lines, repeated, continues }) => continues || lines.length > repeated,
  );
  if (!adds || related.length < 2) return cues;
  if (related.length < (rolling.length - 1) * MIN_ROLLING_SHARE) return cues;
  const merged: Cue[] = [];
  for (const { cue, lines, repeated, continues } of rolling) {
    const last = merged.at(-1);
    if (continues && last && last.text.length <= MAX_LINES * MAX_LINE) {
      const lastLines = last.text.split("\n").slice(0, -1);
      last.text = [...lastLines, ...lines].join("\n");
      last.end = cue.end;
    } else if (lines.length > repeated) {
      merged.push({ ...cue, text: lines.slice(repeated).join("\n") });
    }
  }
  return merged;
}

function compareNeighbours(cues: Cue[]): RollingCue[] {
  let before: { end: number; lines: string[] } | undefined;
  return cues.flatMap((cue) => {
    const lines = cue.text
      .split("\n")
      .map((line) => line.replaceAll(/\s+/g, " ").trim())
      .filter(Boolean);
    if (lines.length === 0) return [];
    const isNear = before !== undefined && !(cue.start > before.end + MAX_GAP_SECONDS);
    const repeated = isNear ? countRepeated(before!.lines, lines) : 0;
    const last = before?.lines.at(-1);
    const grows = lines[0]!.length <= MAX_LINE && lines[0]!.startsWith(`${last} `);
    const continues = isNear && repeated === 0 && grows;
    before = { end: cue.end, lines };
    return [{ cue, lines, repeated, continues }];
  });
}

/** Returns how many lines at the beginning of `lines` are at the end of `earlier`. */
function countRepeated(earlier: string[], lines: string[]): number {
  for (let count = Math.min(earlier.length, lines.length, MAX_LINES); count > 0; count--) {
    const end = earlier.slice(-count);
    if (end.every((line, i) => line === lines[i])) return count;
  }
  return 0;
}
