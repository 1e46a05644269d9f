import { failureOf, isRetryable } from "../errors.ts";
import { openContainer } from "../media/container.ts";
import { cutSound, getAudioTrack } from "../media/sound.ts";
import { transcribe } from "../models/transcribe.ts";
import { sourceKey } from "../store/media.ts";
import { type HeardPiece, putHeard } from "../store/transcripts.ts";
import type { Asset } from "../types.ts";
import { ownCues, type Piece, pieceAt } from "./pieces.ts";

/** Hears one piece of a video's sound. What can't be heard is recorded with it. */
export async function listen(env: Env, asset: Asset, part: number, attempt: number): Promise<void> {
  const heard = await hear(env, asset, pieceAt(asset, part), attempt);
  await putHeard(env.MEDIA, asset, part, heard);
}

async function hear(env: Env, asset: Asset, piece: Piece, attempt: number): Promise<HeardPiece> {
  const nothing = { language: null, cues: [], problem: null };
  try {
    using input = await openContainer(env.MEDIA, sourceKey(asset), piece);
    const track = await getAudioTrack(input);
    const sound = track && (await cutSound(track, piece.from, piece.to));
    if (!sound) return nothing;
    const { language, spoken } = await transcribe(env.AI, sound.bytes, asset.language);
    const shifted = spoken.map((one) => shift(one, sound.startSeconds));
    return { language, cues: ownCues(shifted, piece), problem: null };
  } catch (error) {
    if (isRetryable(error, attempt)) throw error;
    return { ...nothing, problem: failureOf(error) };
  }
}

type Timed = { start: number; end: number };

function shift<T extends Timed & { words: Timed[] }>(spoken: T, by: number): T {
  const move = <U extends Timed>(one: U): U => ({
    ...one,
    start: one.start + by,
    end: one.end + by,
  });
  return { ...move(spoken), words: spoken.words.map(move) };
}
