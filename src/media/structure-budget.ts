import { AppError } from "../errors.ts";

/**
 * Most of each kind of structure that a file may have. A reader asks before it makes an entry for
 * each: a few bytes can promise billions.
 */
const MAX = {
  "boxes in its index": 10_000, // a film has some 50
  boxes: 500_000, // 12 hours in fragments of 0.2 s
  "boxes in boxes": 16,
  "bytes in its index besides samples": 16 * 1024 ** 2,
  edits: 1000,
  "samples in a track": 12 * 3600 * 1000, // of 1 ms in 12 hours
  "samples between two keyframes": 500_000,
  "samples in a chunk": 1_000_000,
  "samples in a fragment": 500_000,
  "samples in its damaged index": 500_000,
  "headers before its first frame": 100_000,
  "bytes before its first frame": 64 * 1024 ** 2,
  "bytes in one piece": 64 * 1024 ** 2, // a frame, or a cluster
  frames: 4_000_000, // 12 hours of 93 a second
  "elements in a cluster": 500_000,
  "laced frames in a cluster": 20_000, // each is moved for the next one
  "entries in its seek heads": 1000, // each is compared with the others
  tracks: 200,
  segments: 100,
  tags: 100_000,
  "cue points": 500_000,
  "cue points at one time": 10_000, // each is moved for the next one
} as const;

/** Throws `too_large` for more than a file may have. */
export function requireWithinBudget(what: keyof typeof MAX, count: number): void {
  if (count <= MAX[what]) return;
  const max = MAX[what].toLocaleString("en");
  const message = `The file has more than ${max} ${what}, too many to read. Convert it to MP4 again.`;
  throw new AppError("too_large", message);
}
