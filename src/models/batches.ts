import { isOversize } from "./run.ts";

/**
 * Calls a model for all inputs, `batchSize` at a time. A batch that it refuses for its size is
 * halved, down to one input. Outputs are in the order of the inputs.
 */
export async function callInBatches<Input, Output>(
  inputs: readonly Input[],
  batchSize: number,
  call: (batch: readonly Input[]) => Promise<Output[]>,
): Promise<Output[]> {
  const outputs: Output[] = [];
  for (let i = 0; i < inputs.length; i += batchSize) {
    outputs.push(...(await callBatch(inputs.slice(i, i + batchSize), call)));
  }
  return outputs;
}

async function callBatch<Input, Output>(
  batch: readonly Input[],
  call: (batch: readonly Input[]) => Promise<Output[]>,
): Promise<Output[]> {
  try {
    return await call(batch);
  } catch (error) {
    if (batch.length === 1 || !isOversize(error)) throw error;
    const middle = Math.ceil(batch.length / 2);
    const first = await callBatch(batch.slice(0, middle), call);
    return [...first, ...(await callBatch(batch.slice(middle), call))];
  }
}
