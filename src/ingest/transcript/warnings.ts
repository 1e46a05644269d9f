import type { Failure } from "../../errors.ts";
import type { Cue } from "../../types.ts";
import type { DecodedText } from "./decode-text.ts";

/** Lines that a warning names. */
const MAX_NAMED = 5;
const HOUR = 3600;

/** Warns of lines that could not be read as they are written, if there are any. */
export function badLinesWarning(lines: number[]): Failure[] {
  if (lines.length === 0) return [];
  const named = lines.slice(0, MAX_NAMED).join(", ");
  const others = lines.length > MAX_NAMED ? ` and ${lines.length - MAX_NAMED} more` : "";
  const subject = lines.length === 1 ? `Line ${named}` : `Lines ${named}${others}`;
  const message = `${subject} of the transcript can't be read as written: check the times around it.`;
  return [{ code: "transcript_malformed", message }];
}

/** Warns of bytes that aren't text in the encoding, if there are any. */
export function badBytesWarning({ badLine, encoding }: DecodedText): Failure[] {
  if (badLine === null) return [];
  const message = `Line ${badLine} of the transcript has a byte that isn't ${encoding}: it is shown as �.`;
  return [{ code: "transcript_malformed", message }];
}

export interface FittedCues {
  cues: Cue[];
  warnings: Failure[];
}

/**
 * Fits cues to a video of a length. Times that begin at a whole hour, as those of a tape, and would
 * fit without it are shifted. Cues past the end stay, and are told.
 */
export function fitCues(cues: Cue[], durationSeconds: number): FittedCues {
  const past = cues.filter(({ start }) => start >= durationSeconds).length;
  if (past === 0) return { cues, warnings: [] };
  const first = Math.min(...boundsOf(cues));
  const offset = Math.floor(first / HOUR) * HOUR;
  const lastStart = cues.at(-1)!.start - offset;
  if (offset > 0 && lastStart < durationSeconds) {
    const shifted = cues.map(({ start, end, text }) => ({
      start: round(start - offset),
      end: round(end - offset),
      text,
    }));
    const hours = `${offset / HOUR} h`;
    const message = `The transcript begins at ${hours}, the video doesn't: its times are ${hours} earlier.`;
    return { cues: shifted, warnings: [{ code: "transcript_shifted", message }] };
  }
  const share = past === cues.length ? "All cues" : `${past} of ${cues.length} cues`;
  const message =
    `${share} of the transcript start after the end of the video, at ${durationSeconds} s, ` +
    "and aren't found: check that it is this video's.";
  return { cues, warnings: [{ code: "transcript_past_end", message }] };
}

/** Returns the start of the first cue with a time; cues are sorted. */
function boundsOf(cues: Cue[]): number[] {
  return cues
    .filter(({ start }) => !Number.isNaN(start))
    .slice(0, 1)
    .map(({ start }) => start);
}

function round(seconds: number): number {
  return Math.round(seconds * 1000) / 1000;
}

const CODES = new Set<string>([
  "transcript_malformed",
  "transcript_shifted",
  "transcript_past_end",
]);

/** Whether a warning is about the transcript that was given. It goes with the transcript. */
export function isTranscriptWarning({ code }: Failure): boolean {
  return CODES.has(code);
}
