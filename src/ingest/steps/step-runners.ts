import { isAudioOnly } from "../../asset-kind.ts";
import { withIsolateMemory } from "../../isolate-budget.ts";
import type { Asset, Step } from "../../types.ts";
import { convert, mergeParts, planConversion } from "../conversion.ts";
import type { FanOut } from "../state.ts";
import { alignTranscript } from "./align-transcript.ts";
import { measureAudio, recognizeSpeech } from "./analyze-audio.ts";
import { describe } from "./describe.ts";
import { detectAssetShots, indexFrames } from "./detect-shots.ts";
import { embed } from "./embed.ts";
import { fetchSource } from "./fetch.ts";
import { finish } from "./finish.ts";
import { probe } from "./probe.ts";
import { segment } from "./segment.ts";

/**
 * Does one part of a step. A runner may run twice, late or concurrently with itself, because ids
 * and keys of its output depend on the asset and the part only. `attempt` counts from 1. Resolves
 * to the part counts of later steps if the step determines them.
 */
type StepRunner = (env: Env, asset: Asset, part: number, attempt: number) => Promise<FanOut | void>;

const STEP_RUNNERS: Record<Step, StepRunner> = {
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

const MIB = 1024 * 1024;
/**
 * Memory of a part while it runs. Steps that stream a file to or from a server are left out: they
 * hold one block, and a slow server would keep others waiting.
 */
const STEP_MIB: Partial<Record<Step, number>> = {
  merge_parts: 8,
  probe: 8,
  detect_shots: 12,
  segment: 12,
  recognize_speech: 8,
  describe: 12,
  index_frames: 12,
  embed: 12,
  finish: 12,
};

/**
 * Runs a part within the memory that all parts in this isolate share. A part that waits for it has
 * read nothing yet.
 */
export const runPart: (step: Step, ...part: Parameters<StepRunner>) => ReturnType<StepRunner> = (
  step,
  ...part
) => {
  const run = async () => STEP_RUNNERS[step](...part);
  const mib = STEP_MIB[step];
  if (mib === undefined) return run();
  const [, asset] = part;
  const isWholeRead = step === "describe" && asset.assetType === "image"; // for its metadata
  return withIsolateMemory(mib * MIB + (isWholeRead ? asset.sizeBytes : 0), run);
};
