import { AppError, invalid } from "../errors.ts";
import { parseTranscript, type Transcript } from "../ingest/transcript-read.ts";

/** What the form part `transcript` says. Throws `ValidationError` where it can't be read. */
export function readTranscript(bytes: Uint8Array): Transcript {
  try {
    return parseTranscript(bytes);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    throw refusedTranscript(error.message);
  }
}

export function refusedTranscript(why: string) {
  return invalid(["body", "transcript"], "value_error", why);
}
