import { z } from "zod";
import { MODELS } from "../config.ts";
import { runModel } from "./run.ts";

const { id, dimensions, batchSize, maxCharacters, timeoutMs } = MODELS.embedText;

const response = z.object({ data: z.array(z.array(z.number()).length(dimensions)) });

/** Embeds texts: one vector each, with `MODELS.embedText.dimensions` values. */
export async function embedText(ai: Ai, texts: string[]): Promise<number[][]> {
  const vectors: number[][] = [];
  for (let i = 0; i < texts.length; i += batchSize) {
    const text = texts.slice(i, i + batchSize).map((input) => input.slice(0, maxCharacters));
    const batchResponse = response.refine(({ data }) => data.length === text.length);
    vectors.push(...(await runModel(ai, id, { text }, batchResponse, timeoutMs)).data);
  }
  return vectors;
}
