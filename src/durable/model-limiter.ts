import { DurableObject } from "cloudflare:workers";
import type { ModelClass } from "../models/call-limiter.ts";
import {
  type CallWindow,
  type PermitRequest,
  type Permits,
  takePermits,
} from "../models/call-window.ts";

/**
 * Counts the model calls of the whole deployment, which a rate limit binding can't: that counts by
 * location, inexactly, and knows no priorities. The counts are in memory only: a window lasts a
 * minute, and the object is evicted only after more than a minute without calls.
 */
export class ModelLimiter extends DurableObject<Env> {
  readonly #windows = new Map<ModelClass, CallWindow>();

  async take(modelClass: ModelClass, request: PermitRequest): Promise<Permits> {
    const current = this.#windows.get(modelClass) ?? [];
    const { window, ...permits } = takePermits(current, request, Date.now());
    this.#windows.set(modelClass, window);
    return permits;
  }
}
