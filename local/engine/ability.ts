import { EngineError } from "./errors.ts";
import { Queue, type QueueLimits } from "./queue.ts";

interface AbilityStatus {
  ready: boolean;
  /** Null where there is none: the ability is absent. */
  model: string | null;
  /** Why the ability is not ready. */
  why?: string;
}

/** A model and the queue in front of it. */
export interface Ability<Model> {
  /** Empty where there is none. */
  readonly model: string;
  status(): AbilityStatus;
  /** Waits for the model, then for a turn. Errors: `model_missing`, `busy`, `failed` and those of `work`. */
  use<T>(work: (model: Model, signal: AbortSignal) => Promise<T>, caller: AbortSignal): Promise<T>;
}

/** Starts loading at once; calls that arrive earlier wait. */
export function createAbility<Model>(
  model: string,
  load: () => Promise<Model>,
  limits: QueueLimits,
): Ability<Model> {
  const queue = new Queue(limits);
  let status: AbilityStatus = { ready: false, model, why: "loading" };
  const loaded = load();
  const watch = async () => {
    try {
      await loaded;
      status = { ready: true, model };
    } catch (error) {
      console.error(error);
      const why = error instanceof Error ? error.message : "loading failed";
      status = { ready: false, model, why };
    }
  };
  void watch();
  const requireModel = async (): Promise<Model> => {
    try {
      return await loaded;
    } catch (cause) {
      throw new EngineError("failed", `The model ${model} could not be loaded.`, { cause });
    }
  };
  return {
    model,
    status: () => status,
    async use(work, caller) {
      const ready = await requireModel();
      return queue.run((signal) => work(ready, signal), caller);
    },
  };
}

/** An ability that this machine hasn't got; `why` says what to do about it. */
export function createAbsent<Model>(why: string): Ability<Model> {
  return {
    model: "",
    status: () => ({ ready: false, model: null, why }),
    use: () => Promise.reject(new EngineError("model_missing", why)),
  };
}
