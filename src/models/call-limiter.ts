import { MODELS } from "../config.ts";
import { traceOf } from "../errors.ts";
import { log } from "../log.ts";
import type { CallPriority } from "./call-window.ts";
import { callLimitError, limitCodeOf, type RunOptions } from "./run.ts";

/** Kind of model for which Workers AI has a limit of its own. */
export type ModelClass = "text" | "vision" | "speech" | "embeddings";

/**
 * How many calls of a model met a limit in the last hour. `code` is one of Workers AI, or `refused`
 * by the deployment's own limiter.
 */
export type MetLimit = { model: string; code: string; count: number };

/**
 * Calls a minute that Workers AI takes of an account by default. The variable `MODEL_RATES`
 * overrides them.
 */
const CALLS_PER_MINUTE: Record<ModelClass, number> = {
  text: 300,
  vision: 720,
  speech: 720,
  embeddings: 3000,
};

const CLASS_BY_MODEL: ReadonlyMap<string, ModelClass> = new Map([
  [MODELS.embedText.id, "embeddings"],
  [MODELS.describe.id, "text"],
  [MODELS.answer.id, "text"],
  [MODELS.detect.id, "vision"],
  [MODELS.transcribe.id, "speech"],
]);

export type LimiterEnv = Pick<Env, "MODEL_LIMITER" | "MODEL_RATES" | "IMAGE_EMBEDDINGS_MODEL">;

interface LimitedAi extends Ai {
  reserve(model: string, count: number): Promise<void>;
}

/**
 * Wraps the AI binding so that the deployment's `ModelLimiter` object counts every call. Background
 * calls need its permit and throw `callLimitError` without one. Interactive calls don't wait for
 * it, nor for a model that is out of capacity: they fail. While the object can't be reached, all
 * calls are made.
 */
export function limitCalls(ai: Ai, env: LimiterEnv, priority: CallPriority): LimitedAi {
  const reserved = new Map<ModelClass, number>();

  const classOf = (model: string): ModelClass | undefined =>
    model === env.IMAGE_EMBEDDINGS_MODEL ? "embeddings" : CLASS_BY_MODEL.get(model);

  const takeReserved = (modelClass: ModelClass): boolean => {
    const count = reserved.get(modelClass) ?? 0;
    if (count > 0) reserved.set(modelClass, count - 1);
    return count > 0;
  };

  const take = async (model: string, modelClass: ModelClass, count: number): Promise<number> => {
    const rates: Partial<Record<ModelClass, number>> = env.MODEL_RATES;
    const callsPerMinute = rates[modelClass] ?? CALLS_PER_MINUTE[modelClass];
    const request = { callsPerMinute, priority, count };
    const limiter = limiterObject(env);
    const permits = await limiter.take(model, modelClass, request).catch((error: unknown) => {
      log("warn", "models.limiter_unavailable", { cause: traceOf(error) });
      return { granted: count, waitMs: 0 };
    });
    if (permits.granted === 0) throw callLimitError(model, permits.waitMs / 1000);
    return permits.granted;
  };

  const recordLimit = async (model: string, error: unknown): Promise<void> => {
    const code = limitCodeOf(error);
    if (code === null) return;
    try {
      await limiterObject(env).recordLimit(model, code);
    } catch (cause) {
      log("warn", "models.limiter_unavailable", { cause: traceOf(cause) });
    }
  };

  const run = async (model: keyof AiModels, input: object, others?: RunOptions) => {
    const options: RunOptions = { ...others, rejectIfBusy: priority === "interactive" };
    const modelClass = classOf(model);
    if (modelClass && !takeReserved(modelClass)) {
      const taken = take(model, modelClass, 1);
      if (priority === "background") await taken;
    }
    try {
      return await ai.run(model, input, options);
    } catch (error) {
      const recorded = recordLimit(model, error);
      if (priority === "background") await recorded;
      throw error;
    }
  };

  const reserve = async (model: string, count: number) => {
    const modelClass = classOf(model);
    if (!modelClass || priority === "interactive" || count === 0) return;
    const granted = await take(model, modelClass, count);
    reserved.set(modelClass, (reserved.get(modelClass) ?? 0) + granted);
  };

  return Object.create(ai, { run: { value: run }, reserve: { value: reserve } });
}

/** Lists how many calls of each model met a limit in the last hour. */
export async function listMetLimits(env: Pick<Env, "MODEL_LIMITER">): Promise<MetLimit[]> {
  return limiterObject(env).listLimits();
}

/** The last check of the text model: the scripts in which different texts have equal vectors. */
export interface TextModelCheck {
  model: string;
  /** Names of scripts. */
  equalScripts: string[];
  /** Epoch ms. */
  checkedAt: number;
}

/** Returns the last check of the text model; null before the first. */
export async function getTextModelCheck(
  env: Pick<Env, "MODEL_LIMITER">,
): Promise<TextModelCheck | null> {
  return limiterObject(env).getTextModelCheck();
}

export async function setTextModelCheck(
  env: Pick<Env, "MODEL_LIMITER">,
  check: TextModelCheck,
): Promise<void> {
  await limiterObject(env).setTextModelCheck(check);
}

function limiterObject(env: Pick<Env, "MODEL_LIMITER">) {
  return env.MODEL_LIMITER.getByName("models");
}

/**
 * Takes the permits of the next `count` calls of `model`, before the work that prepares them is
 * done and paid. Throws `callLimitError`. Does nothing for a binding without limits.
 */
export async function reserveCalls(ai: Ai, model: string, count: number): Promise<void> {
  if (isLimited(ai)) await ai.reserve(model, count);
}

function isLimited(ai: Ai): ai is LimitedAi {
  return Object.hasOwn(ai, "reserve");
}
