import { WorkerEntrypoint } from "cloudflare:workers";
import { z } from "zod";
import { MODELS } from "../src/config.ts";
import { chat } from "./chat.ts";
import { detect } from "./detect.ts";
import { aiError, requestAi, noSuchModel } from "./engine-client.ts";
import type { LocalEnv } from "./env.ts";
import { damage, type Embedding, type ModelOutput } from "./damage.ts";
import { addFault, type AiFault, takeFault, takeScripted } from "./faults.ts";
import type { JsonForm } from "./json-format.ts";
import type { Reply } from "./scripted-chat.ts";
import { transcribeAudio } from "./speech.ts";

const MAX_REQUEST_BYTES = 10_000_000;
const MAX_TEXTS = 100;
const CHATS = new Set<string>([MODELS.describe.id, MODELS.answer.id]);

const EmbeddingInput = z.object({
  text: z.union([z.string().min(1), z.array(z.string().min(1)).min(1).max(MAX_TEXTS)]),
});
const Sentences = z.object({ vectors: z.array(z.array(z.number())) });

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
  async run(model: string, inputs: unknown): Promise<ModelOutput> {
    if (JSON.stringify(inputs ?? null).length > MAX_REQUEST_BYTES) {
      throw aiError("3006: Request is too large");
    }
    const fault = await takeFault(this.env, model);
    const message = fault === null ? undefined : FAULT_MESSAGES[fault];
    if (message !== undefined) throw aiError(message);
    const output = await this.#infer(model, inputs);
    return fault === null ? output : damage(output, fault);
  }

  /**
   * Makes the next `times` runs of `model` fail or return a damaged output; `slow:<ms>` delays them
   * instead.
   */
  async inject(model: string, fault: AiFault, times = 1): Promise<void> {
    await addFault(this.env, model, fault, times);
  }

  /** Removes the faults that `model` hasn't met yet. */
  async clearFaults(model: string): Promise<void> {
    await this.env.FAULTS.getByName("faults").clear(model);
  }

  /**
   * Scripts the replies of the next chats of `model`, streamed or not, each used once and in order.
   * Replaces an earlier script and its recorded inputs. A fault comes first and consumes no reply.
   */
  async script(model: string, replies: Reply[]): Promise<void> {
    await this.#scripts.script(model, replies);
  }

  /** Sets the forms of a request for JSON that `model` accepts; it rejects others with 5006. */
  async acceptJsonForms(model: string, forms: JsonForm[]): Promise<void> {
    await this.#scripts.setJsonForms(model, forms);
  }

  /** Returns the inputs of the chats of `model` that its script answered, in order. */
  async scriptedInputs(model: string): Promise<unknown[]> {
    const inputs = await this.#scripts.inputs(model);
    return inputs.map((input): unknown => JSON.parse(input));
  }

  /** Counts the scripted streams of `model` that were cancelled before their end. */
  async cancelledStreams(model: string): Promise<number> {
    return this.#scripts.countCancelled(model);
  }

  get #scripts() {
    return this.env.FAULTS.getByName("faults");
  }

  async #infer(model: string, inputs: unknown): Promise<ModelOutput> {
    if (model === MODELS.embedText.id) return embed(this.env, model, inputs);
    if (CHATS.has(model)) {
      const scripted = await takeScripted(this.env, model, inputs);
      return chat(this.env, model, inputs, scripted, await this.#scripts.jsonForms(model));
    }
    if (model === MODELS.detect.id) return detect(this.env, model, inputs);
    if (model === MODELS.transcribe.id) return transcribeAudio(this.env, model, inputs);
    throw noSuchModel(model);
  }
}

/** Pads the engine's vectors with zeros to production's dimensions; cosines don't change. */
async function embed(env: LocalEnv, model: string, inputs: unknown): Promise<Embedding> {
  if (typeof inputs === "object" && inputs !== null && "contexts" in inputs) {
    throw noSuchModel(model);
  }
  const input = EmbeddingInput.safeParse(inputs);
  if (!input.success) throw aiError(`5006: Error: ${z.prettifyError(input.error)}`);
  const texts = [input.data.text].flat();
  const answer = await requestAi(env, model, "/sentences", JSON.stringify({ texts }));
  const { dimensions } = MODELS.embedText;
  const data = Sentences.parse(answer).vectors.map((vector) =>
    vector.concat(Array.from({ length: dimensions - vector.length }, () => 0)),
  );
  return { shape: [data.length, dimensions], data, pooling: "cls" };
}
