import { AppError, invalid } from "../errors.ts";
import { parseTranscript, type Transcript } from "../ingest/transcript/parse.ts";

/** Parses the form part `transcript`. Throws `ValidationError` if it is malformed. */
export function parseTranscriptPart(bytes: Uint8Array): Transcript {
  try {
    return parseTranscript(bytes);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    throw invalidTranscript(error.message);
  }
}

export function invalidTranscript(message: string) {
  return invalid(["body", "transcript"], "value_error", message);
}
