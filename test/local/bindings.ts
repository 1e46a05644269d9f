import { env } from "cloudflare:workers";
import type { LocalAI } from "../../local/local-ai.ts";
import type { LocalVectorize } from "../../local/local-vectorize.ts";

type LocalAi = Pick<
  LocalAI,
  | "run"
  | "inject"
  | "clearFaults"
  | "script"
  | "behave"
  | "countPendingFaults"
  | "takeCancelledCalls"
  | "scriptedInputs"
  | "cancelledStreams"
>;
export type LocalSpace = Omit<Vectorize, "describe"> &
  Pick<LocalVectorize, "createMetadataIndex" | "describe">;

/** Returns `env.AI` with the methods of the stand-in and any model name. */
export function localAi(): LocalAi {
  const { AI } = env;
  if (!has<LocalAi>(AI, "inject")) throw new Error("env.AI is not the stand-in");
  return AI;
}

/** Returns the binding of a vector space with the methods of the stand-in. */
export function localSpace(name: "TEXT_VECTORS_1" | "IMAGE_VECTORS_1"): LocalSpace {
  const space = env[name];
  if (!has<LocalSpace>(space, "createMetadataIndex")) throw new Error("not the stand-in");
  return space;
}

function has<T>(binding: object, method: keyof T): binding is T & object {
  return typeof Reflect.get(binding, method) === "function";
}

/** Returns the error of a rejected promise; throws if the promise resolves. */
export async function errorOf(promise: PromiseLike<unknown>): Promise<Error> {
  try {
    await promise;
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
  throw new Error("The promise was not rejected.");
}

/** Returns the error message of a rejected promise. */
export async function rejectionMessage(promise: PromiseLike<unknown>): Promise<string> {
  return (await errorOf(promise)).message;
}
