import type { z } from "zod";
import { AppError, causeOf, type ErrorCode } from "../errors.ts";

/** Workers AI puts its own code in front of the message: `3040: Capacity temporarily exceeded`. */
const CODES: Record<string, ErrorCode> = {
  "3006": "model_refused", // request too large
  "3007": "upstream_timeout",
  "3036": "upstream_unavailable", // daily quota
  "3040": "upstream_unavailable", // out of capacity
  "3010": "model_refused", // an input it can't read
  "5007": "model_missing",
  "5035": "model_missing", // needs a paid plan
};

/**
 * One model call: the only way to a model. Throws `upstream_timeout` after `timeoutMs`,
 * `upstream_failed` where the answer hasn't the shape of `schema`, and the code of `CODES` where
 * the platform gives one.
 */
export async function runModel<Schema extends z.ZodType>(
  ai: Ai,
  model: string,
  input: Record<string, unknown>,
  schema: Schema,
  timeoutMs: number,
): Promise<z.output<Schema>> {
  const answer = await withinTime(callModel(ai, model, input), model, timeoutMs);
  const parsed = schema.safeParse(answer);
  if (parsed.success) return parsed.data;
  throw new AppError("upstream_failed", `The model ${model} answered in an unknown shape.`, {
    cause: parsed.error,
  });
}

async function callModel(ai: Ai, model: string, input: Record<string, unknown>): Promise<unknown> {
  try {
    return await ai.run(model as keyof AiModels, input as never);
  } catch (error) {
    const platformCode = /\b(\d{4}): /.exec(causeOf(error))?.[1] ?? "";
    const code = CODES[platformCode] ?? "upstream_failed";
    const message = `The model ${model} is not available (${platformCode || "no code"}).`;
    throw new AppError(code, message, { cause: error });
  }
}

async function withinTime<T>(work: Promise<T>, model: string, timeoutMs: number): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new AppError("upstream_timeout", `The model ${model} took over ${timeoutMs} ms.`));
    }, timeoutMs);
  });
  try {
    return await Promise.race([work, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
