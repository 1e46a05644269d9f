import { WorkerEntrypoint } from "cloudflare:workers";
import { z } from "zod";
import { MODELS } from "../src/config.ts";
import { chat, type ChatOutput } from "./chat.ts";
import { detect } from "./detect.ts";
import { aiError, requestAi, noSuchModel } from "./engine-client.ts";
import type { LocalEnv } from "./env.ts";
import { addFault, type AiFault, takeFault, takeScripted } from "./faults.ts";
import type { Reply } from "./scripted-chat.ts";
import { transcribeAudio } from "./speech.ts";

const MAX_REQUEST_BYTES = 10_000_000;
const MAX_TEXTS = 100;
const CHATS = new Set<string>([MODELS.describe.id, MODELS.answer.id]);

type Embedding = Ai_Cf_Baai_Bge_M3_Output_Embedding & { data: number[][]; shape: number[] };
type Output =
  | Embedding
  | ChatOutput
  | Ai_Cf_Moondream_Moondream3_1_9B_A2B_Output
  | Ai_Cf_Openai_Whisper_Large_V3_Turbo_Output;

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
  "5007": "5007: No such model or task",
};

/**
 * Stands in for `env.AI` without an account: production's model names, shapes, limits and errors,
 * computed by the engine. A model whose capability the engine lacks fails with
 * `5007: No such model … or task`. The type `Ai` overloads every model, so this class can't
 * implement it; `test/local/calls.ts` checks the calls that the service makes instead.
 */
export class LocalAI extends WorkerEntrypoint<LocalEnv> {
  async run(model: string, inputs: unknown): Promise<Output> {
    if (JSON.stringify(inputs ?? null).length > MAX_REQUEST_BYTES) {
      throw aiError("3006: Request is too large");
    }
    const fault = await takeFault(this.env, model);
    const message = fault === null ? undefined : FAULT_MESSAGES[fault];
    if (message !== undefined) throw aiError(message);
    const output = await this.#infer(model, inputs);
    return fault === "malformed" ? malformed(output) : output;
  }

  /** Makes the next `times` runs of `model` fail; `slow:<ms>` delays them instead. */
  async inject(model: string, fault: AiFault, times = 1): Promise<void> {
    await addFault(this.env, model, fault, times);
  }

  /**
   * Scripts the replies of the next chats of `model`, streamed or not, each used once and in order.
   * Replaces an earlier script and its recorded inputs. A fault comes first and consumes no reply.
   */
  async script(model: string, replies: Reply[]): Promise<void> {
    await this.#scripts.script(model, replies);
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

  async #infer(model: string, inputs: unknown): Promise<Output> {
    if (model === MODELS.embedText.id) return embed(this.env, model, inputs);
    if (CHATS.has(model)) {
      const scripted = await takeScripted(this.env, model, inputs);
      return chat(this.env, model, inputs, scripted);
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

/** Damages an output: drops a vector, the times or the boxes, or cuts JSON or a stream in half. */
function malformed(output: Output): Output {
  if (output instanceof ReadableStream) return output.pipeThrough(firstChunkOnly());
  if ("data" in output) return { ...output, data: output.data.slice(1) };
  if ("metrics" in output) return { finish_reason: "stop", metrics: output.metrics };
  if ("text" in output) return { ...output, segments: [{ text: output.text }] };
  return {
    ...output,
    choices: output.choices.map((choice) => {
      const content = choice.message.content ?? "";
      const message = { ...choice.message, content: content.slice(0, content.length / 2) };
      return { ...choice, message, finish_reason: "length" as const };
    }),
  };
}

function firstChunkOnly(): TransformStream<Uint8Array, Uint8Array> {
  return new TransformStream({
    transform(chunk, controller) {
      controller.enqueue(chunk.slice(0, chunk.length / 2));
      controller.terminate();
    },
  });
}
