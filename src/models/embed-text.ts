import * as z from "zod";
import { MODELS } from "../config.ts";
import { callInBatches, runModel } from "./run.ts";

const { id, dimensions, batchSize, maxCharacters, timeoutMs } = MODELS.embedText;

const response = z.object({ data: z.array(z.array(z.number()).length(dimensions)) });

/**
 * Embeds texts: one vector each, with `MODELS.embedText.dimensions` values. Equal texts are sent
 * once. The model takes 60,000 tokens in a batch, and truncates each text at a number that its
 * pages disagree about.
 */
export async function embedText(ai: Ai, texts: string[]): Promise<number[][]> {
  const distinct = [...new Set(texts)];
  const vectors = await callInBatches(distinct, batchSize, async (batch) => {
    const text = batch.map((input) => input.slice(0, maxCharacters));
    const batchResponse = response.refine(({ data }) => data.length === text.length);
    const input = { text, truncate_inputs: true };
    return (await runModel(ai, id, input, batchResponse, timeoutMs)).data;
  });
  const vectorOf = new Map(distinct.map((text, i) => [text, vectors[i]!]));
  return texts.map((text) => vectorOf.get(text)!);
}
