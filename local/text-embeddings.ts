import * as z from "zod";
import { MODELS } from "../src/config.ts";
import type { Embedding } from "./damage.ts";
import { aiError, type EngineEnv, noSuchModel, requestAi } from "./engine-client.ts";
import type { Behaviour } from "./faults.ts";

/** https://developers.cloudflare.com/workers-ai/platform/limits/ */
const MAX_TEXTS = 100;
const MAX_TOKENS = 512;
/** https://developers.cloudflare.com/workers-ai/models/bge-m3/: "Context Window" */
const MAX_BATCH_TOKENS = 60_000;
const CHARACTERS_PER_TOKEN = 4; // of Latin script

const Input = z.object({
  text: z.union([z.string().min(1), z.array(z.string().min(1)).min(1).max(MAX_TEXTS)]),
  truncate_inputs: z.boolean().default(false),
});
const Sentences = z.object({ vectors: z.array(z.custom<number[]>(Array.isArray)) });

/**
 * Embeds texts within the limits of bge-m3, whose pages name 512 tokens a text and 60,000 a batch.
 * A longer text is refused or, with `truncate_inputs`, cut off; the batch is counted before that.
 * Pads the engine's vectors with zeros to production's dimensions; cosines don't change.
 */
export async function embedTexts(
  env: EngineEnv,
  model: string,
  inputs: unknown,
  batchLimit: Behaviour["batchLimit"] = { maxTexts: MAX_TEXTS, refusal: "" },
): Promise<Embedding> {
  if (typeof inputs === "object" && inputs !== null && "contexts" in inputs) {
    throw noSuchModel(model);
  }
  const input = Input.safeParse(inputs);
  if (!input.success) throw aiError(`5006: Error: ${z.prettifyError(input.error)}`);
  const all = [input.data.text].flat();
  if (all.length > batchLimit.maxTexts) throw aiError(batchLimit.refusal);
  const counts = all.map(countTokens);
  const longest = Math.max(...counts);
  if (longest > MAX_TOKENS && !input.data.truncate_inputs) {
    throw aiError(
      `3010: Invalid or incomplete input: Sequence too long: ${longest} > ${MAX_TOKENS}`,
    );
  }
  const sum = counts.reduce((total, count) => total + count, 0);
  if (sum > MAX_BATCH_TOKENS) {
    const limit = `model supports only ${MAX_BATCH_TOKENS}`;
    throw aiError(`3030: Max context reached ${sum} tokens but ${limit}`);
  }
  const texts = all.map((text, i) => truncate(text, counts[i] ?? 0));
  const answer = await requestAi(env, model, "/sentences", JSON.stringify({ texts }));
  const { dimensions } = MODELS.embedText;
  const data = Sentences.parse(answer).vectors.map((vector) =>
    vector.concat(Array.from({ length: dimensions - vector.length }, () => 0)),
  );
  return { shape: [data.length, dimensions], data, pooling: "cls" };
}

/** Estimates tokens: one a letter of scripts other than Latin. */
function countTokens(text: string): number {
  const others = text.match(/(?!\p{Script=Latin})\p{L}/gu)?.length ?? 0;
  return others + Math.ceil((text.length - others) / CHARACTERS_PER_TOKEN);
}

function truncate(text: string, tokens: number): string {
  if (tokens <= MAX_TOKENS) return text;
  return text.slice(0, Math.floor((text.length * MAX_TOKENS) / tokens));
}
