import { isAudioOnly } from "../../asset-kind.ts";
import type { Asset, Step } from "../../types.ts";
import type { FanOut } from "../state.ts";
import { alignTranscript } from "./align-transcript.ts";
import { convert } from "./convert.ts";
import { describe } from "./describe.ts";
import { detectAssetShots } from "./detect-shots.ts";
import { embed } from "./embed.ts";
import { fetchSource } from "./fetch.ts";
import { finish } from "./finish.ts";
import { indexFrames } from "./index-frames.ts";
import { measureAudio } from "./measure-audio.ts";
import { mergeParts } from "./merge-parts.ts";
import { planConversion } from "./plan-conversion.ts";
import { probe } from "./probe.ts";
import { recognizeSpeech } from "./recognize-speech.ts";
import { segment } from "./segment.ts";

/**
 * Does one part of a step. A runner may run twice, late or concurrently with itself, because ids
 * and keys of its output depend on the asset and the part only. `attempt` counts from 1. Resolves
 * to the part counts of later steps if the step determines them.
 */
type StepRunner = (env: Env, asset: Asset, part: number, attempt: number) => Promise<FanOut | void>;

export const STEP_RUNNERS: Record<Step, StepRunner> = {
  fetch: fetchSource,
  plan_conversion: planConversion,
  convert,
  merge_parts: mergeParts,
  probe,
  detect_shots: (env, asset, part, attempt) =>
    (isAudioOnly(asset) ? measureAudio : detectAssetShots)(env, asset, part, attempt),
  segment,
  recognize_speech: recognizeSpeech,
  align_transcript: alignTranscript,
  describe,
  index_frames: indexFrames,
  embed,
  finish,
};
