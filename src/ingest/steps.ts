import type { Asset, Step } from "../types.ts";
import { describe } from "./describe.ts";
import { embed } from "./embed.ts";
import { fetchSource } from "./fetch.ts";
import { finish } from "./finish.ts";
import { listen } from "./listen.ts";
import { look } from "./look.ts";
import { probe } from "./probe.ts";
import { segment } from "./segment.ts";
import type { FanOut } from "./state.ts";
import { layTranscript } from "./transcribe.ts";
import { watch } from "./watch.ts";

/**
 * Does one part of a step. It may run twice, late, or beside itself: what it writes has ids and keys
 * that depend on the asset and the part only. `attempt` counts from 1. Resolves to the fan-out where
 * the step finds it out.
 */
type Run = (env: Env, asset: Asset, part: number, attempt: number) => Promise<FanOut | void>;

export const RUN: Record<Step, Run> = {
  fetch: fetchSource,
  probe,
  look,
  segment,
  listen,
  transcribe: layTranscript,
  describe,
  watch,
  embed,
  finish,
};
