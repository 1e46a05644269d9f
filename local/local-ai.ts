import { WorkerEntrypoint } from "cloudflare:workers";
import { z } from "zod";
import { MODELS } from "../src/config.ts";
import { chat, type ChatOutput } from "./chat.ts";
import { detect } from "./detect.ts";
import { aiError, askForAi, noSuchModel } from "./engine-client.ts";
import type { LocalEnv } from "./env.ts";
import { addFault, type AiFault, takeFault } from "./faults.ts";
import type { Reply } from "./scripted-chat.ts";
import { takeScripted } from "./scripts.ts";
import { transcribeSound } from "./speech.ts";

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
  "3036":
    "3036: You have used up your daily free allocation of 10,000 neurons. Please upgrade to Cloudflare's Workers Paid plan if you would like to continue usage.",
  "3040": "3040: Capacity temporarily exceeded, please try again.",
  "3007": "3007: Request timeout",
  "5007": "5007: No such model or task",
};

/**
 * `env.AI` without an account: production's model names, shapes, limits and errors, with the
 * engine's models behind them. A model that the engine has no ability for isn't there
 * (`5007: No such model … or task`). `Ai` is a class of overloads for every model there is, so that
 * nothing smaller can implement it: `test/local/calls.ts` holds its calls against this instead.
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

  /** Makes the next `times` runs of `model` fail; `slow:<ms>` only delays them. */
  async inject(model: string, fault: AiFault, times = 1): Promise<void> {
    await addFault(this.env, model, fault, times);
  }

  /**
   * The next chats of `model`, streamed or not, are answered with these, in order, each once. What
   * was scripted and asked before is forgotten; faults come first and leave the script as it is.
   */
  async script(model: string, replies: Reply[]): Promise<void> {
    await this.#scripts.script(model, replies);
  }

  /** The inputs of the chats of `model` that were answered from its script, in order. */
  async asked(model: string): Promise<unknown[]> {
    const inputs = await this.#scripts.asked(model);
    return inputs.map((input): unknown => JSON.parse(input));
  }

  /** How many scripted streams of `model` were cancelled before their end. */
  async cancelled(model: string): Promise<number> {
    return this.#scripts.cancelled(model);
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
    if (model === MODELS.transcribe.id) return transcribeSound(this.env, model, inputs);
    throw noSuchModel(model);
  }
}

/** The engine's vectors padded with zeros to production's dimensions, which leaves cosines as they are. */
async function embed(env: LocalEnv, model: string, inputs: unknown): Promise<Embedding> {
  if (typeof inputs === "object" && inputs !== null && "contexts" in inputs) {
    throw noSuchModel(model);
  }
  const input = EmbeddingInput.safeParse(inputs);
  if (!input.success) throw aiError(`5006: Error: ${z.prettifyError(input.error)}`);
  const texts = [input.data.text].flat();
  const answer = await askForAi(env, model, "/sentences", JSON.stringify({ texts }));
  const { dimensions } = MODELS.embedText;
  const data = Sentences.parse(answer).vectors.map((vector) =>
    vector.concat(Array.from({ length: dimensions - vector.length }, () => 0)),
  );
  return { shape: [data.length, dimensions], data, pooling: "cls" };
}

/** As it goes wrong in practice: a vector, a time or the boxes are missing, JSON or a stream stops in the middle. */
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
