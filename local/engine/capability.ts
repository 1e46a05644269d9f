import { EngineError } from "./errors.ts";
import { Queue, type QueueLimits } from "./queue.ts";

interface CapabilityStatus {
  ready: boolean;
  /** Null if the capability is missing. */
  model: string | null;
  /** Says why the capability is not ready. */
  reason?: string;
}

/** A model and its queue. */
export interface Capability<Model> {
  /** Empty if the capability is missing. */
  readonly model: string;
  status(): CapabilityStatus;
  /**
   * Runs `work` when the model is loaded and the queue has a free slot for the account. Errors:
   * `model_not_found`, `busy`, `failed` and those of `work`.
   */
  use<T>(
    work: (model: Model, signal: AbortSignal) => Promise<T>,
    caller: AbortSignal,
    account?: string,
  ): Promise<T>;
}

/** Creates a capability and starts loading its model; calls wait until it is loaded. */
export function createCapability<Model>(
  model: string,
  load: () => Promise<Model>,
  limits: QueueLimits,
): Capability<Model> {
  const queue = new Queue(limits);
  let status: CapabilityStatus = { ready: false, model, reason: "loading" };
  const loaded = load();
  const trackLoading = async () => {
    try {
      await loaded;
      status = { ready: true, model };
    } catch (error) {
      console.error(error);
      const reason = error instanceof Error ? error.message : "loading failed";
      status = { ready: false, model, reason };
    }
  };
  void trackLoading();
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
    async use(work, caller, account) {
      const ready = await requireModel();
      return queue.run((signal) => work(ready, signal), caller, account);
    },
  };
}

/** Creates a capability that this machine lacks; `reason` says how to add it. */
export function missingCapability<Model>(reason: string): Capability<Model> {
  return {
    model: "",
    status: () => ({ ready: false, model: null, reason }),
    use: () => Promise.reject(new EngineError("model_not_found", reason)),
  };
}
