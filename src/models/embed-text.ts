import { z } from "zod";
import { MODELS } from "../config.ts";
import { runModel } from "./run.ts";

const { id, dimensions, batch, characters, timeoutMs } = MODELS.embedText;

const answer = z.object({ data: z.array(z.array(z.number()).length(dimensions)) });

/** Vectors of the text space, one a text, `MODELS.embedText.dimensions` long. */
export async function embedText(ai: Ai, texts: string[]): Promise<number[][]> {
  const vectors: number[][] = [];
  for (let i = 0; i < texts.length; i += batch) {
    const text = texts.slice(i, i + batch).map((t) => t.slice(0, characters));
    const ofBatch = answer.refine(({ data }) => data.length === text.length);
    vectors.push(...(await runModel(ai, id, { text }, ofBatch, timeoutMs)).data);
  }
  return vectors;
}
