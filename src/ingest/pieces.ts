import { LISTEN } from "../config.ts";
import type { Spoken } from "../models/transcribe.ts";
import type { Asset, Cue } from "../types.ts";

/** A stretch of a video's sound, in seconds of the video. */
export interface Piece {
  /** What counts: the pieces of a video have no gap and no overlap. */
  start: number;
  end: number;
  /** What is listened to: a little more, so that no word is cut in two. */
  from: number;
  to: number;
}

type Heard = Pick<Asset, "durationMs" | "hasAudio" | "technical">;

/** How many model calls it takes to hear a video; 0 without sound. */
export function countPieces({ durationMs, hasAudio, technical }: Heard): number {
  if (hasAudio !== true) return 0;
  const bytesPerSecond = Number(technical["audio_bitrate"] ?? 0) / 8;
  const fitting = bytesPerSecond > 0 ? LISTEN.pieceBytes / bytesPerSecond : Infinity;
  const seconds = Math.max(LISTEN.minSeconds, Math.min(LISTEN.maxSeconds, fitting));
  return Math.max(1, Math.ceil(durationMs / 1000 / seconds));
}

export function pieceAt(asset: Heard, part: number): Piece {
  const duration = asset.durationMs / 1000;
  const edge = (index: number) => (index * duration) / countPieces(asset);
  const [start, end] = [edge(part), edge(part + 1)];
  const { overlapSeconds } = LISTEN;
  const [from, to] = [
    Math.max(0, start - overlapSeconds),
    Math.min(duration, end + overlapSeconds),
  ];
  return { start, end, from, to };
}

/**
 * What was said in a piece as cues: words, or whole sentences where words have no times, count in the
 * piece that holds their middle. What the model made up in silence, or said over and over, is left
 * out by the thresholds of Whisper's own decoder (Radford et al., 2022, section 4.5). `spoken` is in
 * seconds of the video.
 */
export function ownCues(spoken: Spoken[], piece: Piece): Cue[] {
  const isOwn = ({ start, end }: { start: number; end: number }) => {
    const middle = (start + end) / 2;
    return middle >= piece.start && middle < piece.end;
  };
  return spoken.filter(isPlausible).flatMap(({ start, end, text, words }) => {
    const own = words.filter(isOwn);
    const [first, last] = [own[0], own.at(-1)];
    if (first && last) {
      const said = own.map(({ word }) => word.trim()).join(" ");
      return [{ start: first.start, end: last.end, text: said }];
    }
    return words.length === 0 && isOwn({ start, end }) ? [{ start, end, text }] : [];
  });
}

/** The cues of all pieces, in order; of a sentence said three times or more in a row, the first. */
export function joinCues(pieces: Cue[][]): Cue[] {
  const cues = pieces.flat().toSorted((a, b) => a.start - b.start);
  const same = (a: Cue | undefined, b: Cue | undefined) => a?.text === b?.text;
  return cues.filter((cue, i) => {
    const [before, before2, after, after2] = [cues[i - 1], cues[i - 2], cues[i + 1], cues[i + 2]];
    const isRun =
      (same(cue, before) && same(cue, after)) ||
      (same(cue, before) && same(cue, before2)) ||
      (same(cue, after) && same(cue, after2));
    return !isRun || !same(cue, before);
  });
}

function isPlausible({ text, noSpeech, logProbability, compression }: Spoken): boolean {
  const isSilence = noSpeech > LISTEN.noSpeech && logProbability < LISTEN.logProbability;
  return text !== "" && !isSilence && compression <= LISTEN.compression;
}
