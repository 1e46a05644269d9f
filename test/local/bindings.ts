import { env } from "cloudflare:workers";
import type { LocalAI } from "../../local/local-ai.ts";
import type { LocalVectorize } from "../../local/local-vectorize.ts";

type LocalAi = Pick<LocalAI, "run" | "inject" | "script" | "asked" | "cancelled">;
export type LocalSpace = Omit<Vectorize, "describe"> &
  Pick<LocalVectorize, "createMetadataIndex" | "describe">;

/** `env.AI` with what only the stand-in has, and with any model name. */
export function localAi(): LocalAi {
  const { AI } = env;
  if (!has<LocalAi>(AI, "inject")) throw new Error("env.AI is not the stand-in");
  return AI;
}

/** A vector space's binding with what only the stand-in has. */
export function localSpace(name: "TEXT_VECTORS" | "PICTURE_VECTORS"): LocalSpace {
  const space = env[name];
  if (!has<LocalSpace>(space, "createMetadataIndex")) throw new Error("not the stand-in");
  return space;
}

function has<T>(binding: object, method: keyof T): binding is T & object {
  return typeof Reflect.get(binding, method) === "function";
}

/** What `promise` throws; fails where it doesn't. */
export async function errorOf(promise: PromiseLike<unknown>): Promise<Error> {
  try {
    await promise;
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
  throw new Error("was not refused");
}

export async function refusal(promise: PromiseLike<unknown>): Promise<string> {
  return (await errorOf(promise)).message;
}
