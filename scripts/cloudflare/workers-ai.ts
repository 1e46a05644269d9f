import { type CloudflareApi, CloudflareError } from "./api.ts";

/**
 * Returns the part of the AI binding that embeds, over the account's REST API. A model's failure
 * has the message that the binding gives it, `3021: Rate limit exceeded`; a refusal of the token or
 * the account keeps its sentence.
 */
export function openWorkersAi(api: CloudflareApi): Ai {
  const run = async (model: string, input: object) => {
    try {
      return await api.post(`ai/run/${model}`, input);
    } catch (error) {
      const code = error instanceof CloudflareError && isOfModel(error) ? error.codes[0] : null;
      if (code === null) throw error;
      const message = error instanceof Error ? error.message : String(error);
      throw new Error(`${code}: ${message}`, { cause: error });
    }
  };
  const ai: Ai = Object.create(null, { run: { value: run } });
  return ai;
}

/** Tests whether the model failed, rather than the access to it. */
function isOfModel({ status, codes }: CloudflareError): boolean {
  return codes.length > 0 && status !== 401 && status !== 403;
}
