import { z } from "@hono/zod-openapi";
import { AppError, invalid } from "../errors.ts";
import { parseTranscript, type Transcript } from "../ingest/transcript/parse.ts";

/** The form field beside `transcript`. */
export const transcriptEncoding = z
  .string()
  .optional()
  .describe(
    "Encoding of the transcript, as `windows-1250`: a label of the WHATWG Encoding Standard. " +
      "Detected by default.",
  )
  .openapi({ example: "windows-1250" });

export const TRANSCRIPT_FORMATS =
  "SRT, WebVTT, JSON (`[{start, end, text}]`, or what Whisper's tools write), TSV, SBV, LRC, MPL2, " +
  "MicroDVD, TMPlayer, SCC, TTML, ASS, SAMI or plain text";

/**
 * Parses the form part `transcript`, in the encoding of the field `transcript_encoding` if there is
 * one. Throws `ValidationError` if either is malformed.
 */
export function parseTranscriptPart(bytes: Uint8Array, encoding?: string): Transcript {
  try {
    return parseTranscript(bytes, encoding);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    throw invalidTranscript(error.message);
  }
}

/** Returns a label of an encoding, undefined without any. Throws `ValidationError` for others. */
export function parseEncodingLabel(label: string | undefined): string | undefined {
  const trimmed = label?.trim();
  if (!trimmed) return undefined;
  try {
    return new TextDecoder(trimmed).encoding;
  } catch {
    const message = "It isn't an encoding: send a label such as windows-1250";
    throw invalid(["body", "transcript_encoding"], "value_error", message);
  }
}

export function invalidTranscript(message: string) {
  return invalid(["body", "transcript"], "value_error", message);
}
