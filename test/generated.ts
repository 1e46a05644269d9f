import { env } from "cloudflare:workers";
import { expect, vi } from "vitest";
import type { Reply } from "../local/scripted-chat.ts";
import { MODELS } from "../src/config.ts";
import { AppError, type ErrorCode } from "../src/errors.ts";
import {
  generate,
  type Generated,
  type GenerateLimits,
  type Prompt,
} from "../src/models/generate.ts";
import { errorOf, localAi } from "./local/bindings.ts";

const ai = localAi();
const { id } = MODELS.answer;
export const PROMPT: Prompt = { system: "Be brief.", content: [{ text: "Who is there?" }] };
export const TEXT = "Ein Hund 🐕 läuft [1]. 犬が走る。";

interface Asked {
  prompt?: Prompt;
  signal?: AbortSignal;
  limits?: Partial<GenerateLimits>;
  through?: Ai;
}

export function start({ prompt = PROMPT, signal, limits, through = env.AI }: Asked = {}) {
  return generate(through, prompt, signal, { ...MODELS.answer, ...limits });
}

export async function all(asked: Asked = {}): Promise<Generated & { pieces: string[] }> {
  const answer = start(asked);
  const pieces: string[] = [];
  for (;;) {
    const next = await answer.next();
    if (next.done) return { ...next.value, pieces };
    pieces.push(next.value);
  }
}

export async function codeOf(asked: Asked = {}): Promise<ErrorCode> {
  const error = await errorOf(all(asked));
  if (error instanceof AppError) return error.code;
  throw error;
}

export async function say(...replies: Reply[]): Promise<void> {
  await ai.script(id, replies);
}

/** A model that the stand-in hasn't got. */
export function answering(answer: unknown): Ai {
  return Object.create(env.AI, { run: { value: async () => answer } });
}

/** A stream between Workers hears of it when it says its next piece. */
export function untilCancelled(times: number): Promise<void> {
  return vi.waitFor(async () => expect(await ai.cancelled(id)).toBe(times), 5000);
}
