import type { Asset, Step } from "../types.ts";
import { describe } from "./describe.ts";
import { embed } from "./embed.ts";
import { fetchSource } from "./fetch.ts";
import { finish } from "./finish.ts";
import { probe } from "./probe.ts";
import { segment } from "./segment.ts";

/**
 * Does one part of a step. It may run twice, late, or beside itself: what it writes has ids and keys
 * that depend on the asset and the part only. Resolves to the fan-out where the step finds it out.
 */
type Run = (env: Env, asset: Asset, part: number) => Promise<number | void>;

export const RUN: Record<Step, Run> = {
  fetch: fetchSource,
  probe,
  segment,
  describe,
  embed,
  finish,
};
