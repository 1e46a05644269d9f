import { AppError, traceOf } from "../errors.ts";
import { log } from "../log.ts";

/** What is asked of a model or an index for a channel of a search, or, where that is out, why. */
export async function unlessOut<T>(channel: string, ask: () => Promise<T>): Promise<T | AppError> {
  try {
    return await ask();
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    log("warn", "search.without_channel", { channel, code: error.code, cause: traceOf(error) });
    return error;
  }
}
