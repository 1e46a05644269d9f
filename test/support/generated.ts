import { env } from "cloudflare:workers";
import { expect } from "vitest";
import type { Reply } from "../../local/scripted-chat.ts";
import { MODELS } from "../../src/config.ts";
import type { Count, CountName } from "../../src/counts.ts";
import { AppError, type ErrorCode } from "../../src/errors.ts";
import { limitCalls } from "../../src/models/call-limiter.ts";
import {
  generate,
  type GeneratedText,
  type GenerateLimits,
  type Prompt,
} from "../../src/models/generate.ts";
import { errorOf, localAi } from "../local/bindings.ts";
import { waitFor } from "./wait.ts";

const ai = localAi();
const { id } = MODELS.answer;
export const PROMPT: Prompt = { system: "Be brief.", content: [{ text: "Who is there?" }] };
export const TEXT = "Ein Hund 🐕 läuft [1]. 犬が走る。";

interface GenerateOptions {
  prompt?: Prompt;
  signal?: AbortSignal;
  limits?: Partial<GenerateLimits>;
  ai?: Ai;
}

export function startGeneration({
  prompt = PROMPT,
  signal,
  limits,
  ai = env.AI,
}: GenerateOptions = {}) {
  return generate(ai, prompt, signal, { ...MODELS.answer, ...limits });
}

/** Wraps an AI binding, and returns what has been counted so far. */
export function metered(ai: Ai) {
  const used: Partial<Record<CountName, number>> = {};
  const count: Count = (name, amount) => {
    if (name !== "queries" && name !== "subrequests") used[name] = (used[name] ?? 0) + amount;
  };
  return { ai: limitCalls(ai, env, "interactive", count), used };
}

export async function collectText(
  options: GenerateOptions = {},
): Promise<GeneratedText & { chunks: string[] }> {
  const generation = startGeneration(options);
  const chunks: string[] = [];
  for (;;) {
    const next = await generation.next();
    if (next.done) return { ...next.value, chunks };
    chunks.push(next.value);
  }
}

export async function generationErrorCode(options: GenerateOptions = {}): Promise<ErrorCode> {
  const error = await errorOf(collectText(options));
  if (error instanceof AppError) return error.code;
  throw error;
}

export async function scriptReplies(...replies: Reply[]): Promise<void> {
  await ai.script(id, replies);
}

/** An AI binding whose every call returns `response`. */
export function aiThatReturns(response: unknown): Ai {
  return Object.create(env.AI, { run: { value: async () => response } });
}

/** Waits up to 5 s: a stream between Workers is cancelled only when it writes its next chunk. */
export function untilCancelled(times: number): Promise<void> {
  return waitFor(async () => expect(await ai.cancelledStreams(id)).toBe(times));
}
