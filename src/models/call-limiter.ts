import { MODELS } from "../config.ts";
import { type Count, setCount } from "../counts.ts";
import { traceOf } from "../errors.ts";
import { log } from "../log.ts";
import { objectMethods } from "../object-calls.ts";
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
 * calls are made. Calls that are made are counted, and cancelled when `signal` aborts.
 */
export function limitCalls(
  ai: Ai,
  env: LimiterEnv,
  priority: CallPriority,
  count: Count,
  signal?: AbortSignal,
): LimitedAi {
  const isBackground = priority === "background";
  const limiter = modelLimiter(env);
  const reserved = new Map<ModelClass, number>();

  /** Takes permits, and returns how many. */
  const take = async (model: string, modelClass: ModelClass, calls: number): Promise<number> => {
    const rates: Partial<Record<ModelClass, number>> = env.MODEL_RATES;
    const callsPerMinute = rates[modelClass] ?? CALLS_PER_MINUTE[modelClass];
    const request = { callsPerMinute, priority, count: calls };
    const permits = await limiter.take(model, modelClass, request).catch((cause: unknown) => {
      warnUnavailable(cause);
      return { granted: calls, waitMs: 0 };
    });
    if (permits.granted === 0) throw callLimitError(model, permits.waitMs / 1000);
    return permits.granted;
  };

  const reserve = async (model: string, calls: number) => {
    const modelClass = classOf(env, model);
    if (!modelClass || calls === 0) return;
    const granted = await take(model, modelClass, calls);
    reserved.set(modelClass, (reserved.get(modelClass) ?? 0) + granted);
  };

  /** Uses a reserved permit, or takes one. */
  const usePermit = async (model: string) => {
    const modelClass = classOf(env, model);
    if (!modelClass) return;
    const remaining = reserved.get(modelClass) ?? 0;
    if (remaining > 0) reserved.set(modelClass, remaining - 1);
    else await take(model, modelClass, 1);
  };

  const run = async (model: keyof AiModels, input: object, others?: RunOptions) => {
    const signals = [others?.signal, signal].filter((each) => each !== undefined);
    const options: RunOptions = {
      ...others,
      rejectIfBusy: !isBackground,
      signal: AbortSignal.any(signals),
    };
    const permit = usePermit(model);
    if (isBackground) await permit;
    count("modelCalls", 1);
    count("subrequests", 1);
    try {
      return await ai.run(model, input, options);
    } catch (error) {
      const code = limitCodeOf(error);
      const recorded = code && limiter.recordLimit(model, code).catch(warnUnavailable);
      if (isBackground) await recorded;
      throw error;
    }
  };

  const limited = Object.create(ai, { run: { value: run }, reserve: { value: reserve } });
  return setCount(limited as LimitedAi, count);
}

function classOf(env: LimiterEnv, model: string): ModelClass | undefined {
  return model === env.IMAGE_EMBEDDINGS_MODEL ? "embeddings" : CLASS_BY_MODEL.get(model);
}

function warnUnavailable(cause: unknown): void {
  log("warn", "models.limiter_unavailable", { cause: traceOf(cause) });
}

export function modelLimiter(env: Pick<Env, "MODEL_LIMITER">) {
  return objectMethods(env, "MODEL_LIMITER", "models", "The limiter of model calls");
}

/**
 * Takes the permits of the next `count` calls of `model`, before the work that prepares them is
 * done and paid. Throws `callLimitError`. Does nothing for a binding without limits.
 */
export async function reserveCalls(ai: Ai, model: string, count: number): Promise<void> {
  if (Object.hasOwn(ai, "reserve")) await (ai as LimitedAi).reserve(model, count);
}

/** `interactive`: a search or an answer that someone waits for. `background`: everything else. */
export type CallPriority = "interactive" | "background";

/** Calls of the last minute, added up by the second in which they leave the window. */
export type CallWindow = readonly { expiresAt: number; count: number }[];

export interface PermitRequest {
  callsPerMinute: number;
  priority: CallPriority;
  /** Calls to be made. */
  count: number;
}

/** Permits for `granted` calls. If there are none, `waitMs` is the time until there can be. */
export interface Permits {
  granted: number;
  waitMs: number;
}

const WINDOW_MS = 60_000;
const BUCKET_MS = 1000;
/** Share of a limit that background work leaves to searches and answers. */
const INTERACTIVE_SHARE = 0.2;

/**
 * Counts calls in a sliding window of a minute. Interactive calls are counted and always granted:
 * Workers AI decides about them. Background calls are granted all or none, as long as
 * `INTERACTIVE_SHARE` of the limit stays free; a request beyond the whole budget gets the budget.
 */
export function takePermits(
  window: CallWindow,
  { callsPerMinute, priority, count }: PermitRequest,
  now: number,
): Permits & { window: CallWindow } {
  const current = window.filter(({ expiresAt }) => expiresAt > now);
  if (priority === "interactive") {
    return { window: withCalls(current, count, now), granted: count, waitMs: 0 };
  }
  const budget = Math.max(1, Math.floor(callsPerMinute * (1 - INTERACTIVE_SHARE)));
  const granted = Math.min(count, budget);
  const waitMs = untilFree(current, budget - granted) - now;
  if (waitMs > 0) return { window: current, granted: 0, waitMs };
  return { window: withCalls(current, granted, now), granted, waitMs: 0 };
}

/** Returns when at most `maxCalls` of the window's calls are left in it: epoch ms, 0 for now. */
function untilFree(window: CallWindow, maxCalls: number): number {
  let remaining = window.reduce((sum, { count }) => sum + count, 0);
  let freeAt = 0;
  for (const { expiresAt, count } of window) {
    if (remaining <= maxCalls) break;
    remaining -= count;
    freeAt = expiresAt;
  }
  return freeAt;
}

function withCalls(window: CallWindow, count: number, now: number): CallWindow {
  const expiresAt = Math.ceil((now + 1) / BUCKET_MS) * BUCKET_MS + WINDOW_MS;
  const last = window.at(-1);
  if (last?.expiresAt !== expiresAt) return [...window, { expiresAt, count }];
  return [...window.slice(0, -1), { expiresAt, count: last.count + count }];
}
