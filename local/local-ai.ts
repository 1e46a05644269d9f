import { WorkerEntrypoint } from "cloudflare:workers";
import { MODELS } from "../src/config.ts";
import { chat } from "./chat.ts";
import { damage, type ModelOutput } from "./damage.ts";
import { detect } from "./detect.ts";
import { aiError, noSuchModel } from "./engine-client.ts";
import type { LocalEnv } from "./env.ts";
import {
  addFault,
  type AiFault,
  type Behaviour,
  type CallOptions,
  takeFault,
  takeScripted,
} from "./faults.ts";
import { embedImages } from "./image-embeddings.ts";
import type { Reply } from "./scripted-chat.ts";
import { transcribeAudio } from "./speech.ts";
import { embedTexts } from "./text-embeddings.ts";

const MAX_REQUEST_BYTES = 10_000_000;
const CHATS = new Set<string>([MODELS.describe.id, MODELS.answer.id]);

const FAULT_MESSAGES: Record<string, string> = {
  "3021": "3021: Rate limit exceeded",
  "3036":
    "3036: You have used up your daily free allocation of 10,000 neurons. Please upgrade to " +
    "Cloudflare's Workers Paid plan if you would like to continue usage.",
  "3040": "3040: Capacity temporarily exceeded, please try again.",
  "3007": "3007: Request timeout",
  "5006": "5006: Error: Bad input",
  "5007": "5007: No such model or task",
  "5024": "5024: JSON Mode couldn't be met",
};

/**
 * Stands in for `env.AI` without an account: production's model names, shapes, limits and errors,
 * computed by the engine. A model whose capability the engine lacks fails with
 * `5007: No such model … or task`. The type `Ai` overloads every model, so this class can't
 * implement it; `test/local/calls.ts` checks the calls that the service makes instead.
 */
export class LocalAI extends WorkerEntrypoint<LocalEnv> {
  async run(model: string, inputs: unknown, options: CallOptions = {}): Promise<ModelOutput> {
    const { signal } = options;
    try {
      const output = await this.#run(model, inputs, options);
      if (!(output instanceof ReadableStream) || !signal) return output;
      return this.#endOnAbort(output, signal);
    } catch (error) {
      if (signal?.aborted) await this.#faults.recordCancelledCall(model);
      throw error;
    }
  }

  /**
   * Makes the next `times` runs of `model` fail or return a damaged output; `slow:<ms>` delays them
   * instead, and `busy:<ms>` those that don't set `rejectIfBusy`.
   */
  async inject(model: string, fault: AiFault, times = 1): Promise<void> {
    await addFault(this.env, model, fault, times);
  }

  /** Removes the faults that `model` hasn't met yet. */
  async clearFaults(model: string): Promise<void> {
    await this.#faults.clear(model);
  }

  /** Counts the calls that the faults of `model` have yet to meet. */
  async countPendingFaults(model: string): Promise<number> {
    return this.#faults.countPending(model);
  }

  /**
   * Scripts the replies of the next chats of `model`, streamed or not, each used once and in order.
   * Replaces an earlier script and its recorded inputs. A fault comes first and consumes no reply.
   */
  async script(model: string, replies: Reply[]): Promise<void> {
    await this.#faults.script(model, replies);
  }

  /** Sets how `model` behaves until it is set again; null resets it. */
  async behave<Name extends keyof Behaviour>(
    model: string,
    name: Name,
    value: Behaviour[Name] | null,
  ): Promise<void> {
    await this.#faults.setBehaviour(model, name, value);
  }

  /** Returns the inputs of the chats of `model` that its script answered, in order. */
  async scriptedInputs(model: string): Promise<unknown[]> {
    const inputs = await this.#faults.inputs(model);
    return inputs.map((input): unknown => JSON.parse(input));
  }

  /** Counts the scripted streams of `model` that were cancelled before their end. */
  async cancelledStreams(model: string): Promise<number> {
    return this.#faults.countCancelled(model);
  }

  /** Counts the calls of `model` that were cancelled before their response, and forgets them. */
  async takeCancelledCalls(model: string): Promise<number> {
    return this.#faults.takeCancelledCalls(model);
  }

  get #faults() {
    return this.env.FAULTS.getByName("faults");
  }

  async #run(model: string, inputs: unknown, options: CallOptions): Promise<ModelOutput> {
    if (JSON.stringify(inputs ?? null).length > MAX_REQUEST_BYTES) {
      throw aiError("3006: Request is too large");
    }
    const fault = await takeFault(this.env, model, options);
    const message = fault === null ? undefined : FAULT_MESSAGES[fault];
    if (message !== undefined) throw aiError(message);
    options.signal?.throwIfAborted();
    const output = await this.#infer(model, inputs, options);
    return fault === null ? output : damage(output, fault);
  }

  /** Passes a stream on. When `signal` aborts, cancels it, and fails with the signal's reason. */
  #endOnAbort(stream: ReadableStream<Uint8Array>, signal: AbortSignal): ReadableStream<Uint8Array> {
    const reader = stream.getReader();
    return new ReadableStream({
      type: "bytes",
      start: (controller) =>
        signal.addEventListener("abort", () => {
          controller.error(signal.reason);
          this.ctx.waitUntil(reader.cancel(signal.reason));
        }),
      async pull(controller) {
        const { done, value } = await reader.read();
        if (signal.aborted) return;
        if (done) controller.close();
        else controller.enqueue(value);
      },
      cancel: (reason) => reader.cancel(reason),
    });
  }

  async #infer(model: string, inputs: unknown, { signal }: CallOptions): Promise<ModelOutput> {
    const env = { ...this.env, ...(signal && { signal }) };
    const { jsonForms, batchLimit } = await this.#faults.behaviour(model);
    if (model === MODELS.embedText.id) return embedTexts(env, model, inputs, batchLimit);
    if (model === MODELS.embedImage.id) return embedImages(env, model, inputs);
    if (CHATS.has(model)) {
      const scripted = await takeScripted(env, model, inputs);
      return chat(env, model, inputs, scripted, jsonForms);
    }
    if (model === MODELS.detect.id) return detect(env, model, inputs);
    if (model === MODELS.transcribe.id) return transcribeAudio(env, model, inputs);
    throw noSuchModel(model);
  }
}
