import type { ByteSource } from "../byte-source.ts";
import { toJsonLine } from "../clean-text.ts";
import { AppError } from "../errors.ts";

export const NDJSON = "application/x-ndjson";

/**
 * Streams texts as fast as the client reads. If it goes away, calls `onCancel` and ends `texts`
 * once its current step is done.
 */
export function streamText(
  type: string,
  texts: AsyncGenerator<string>,
  onCancel?: () => void,
): Response {
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { value, done } = await texts.next();
      if (done) controller.close();
      else controller.enqueue(encoder.encode(value));
    },
    async cancel() {
      onCancel?.();
      await texts.return(undefined);
    },
  });
  return new Response(body, { headers: { "Content-Type": type } });
}

/** Streams values as NDJSON (https://github.com/ndjson/ndjson-spec). */
export function toNdjson(values: AsyncGenerator): Response {
  async function* format() {
    for await (const value of values) yield `${toJsonLine(value)}\n`;
  }
  return streamText(NDJSON, format());
}

const LINE_FEED = 10;

/**
 * Yields the lines of a body but empty ones. Throws `too_large` for a line of more than `maxBytes`,
 * and `bad_request` if the connection breaks.
 */
export async function* readLines(body: ByteSource, maxBytes: number): AsyncGenerator<Uint8Array> {
  let parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of readChunks(body)) {
    for (let from = 0; from <= chunk.length;) {
      const end = chunk.indexOf(LINE_FEED, from);
      const part = chunk.subarray(from, end === -1 ? chunk.length : end);
      parts.push(part);
      bytes += part.length;
      if (bytes > maxBytes) {
        throw new AppError("too_large", `A line is larger than the limit of ${maxBytes} bytes.`);
      }
      if (end === -1) break;
      if (bytes > 0) yield Buffer.concat(parts);
      [parts, bytes, from] = [[], 0, end + 1];
    }
  }
  if (bytes > 0) yield Buffer.concat(parts);
}

async function* readChunks(body: ByteSource): AsyncGenerator<Uint8Array> {
  try {
    yield* body;
  } catch (cause) {
    throw new AppError("bad_request", "The connection broke off; send it again.", { cause });
  }
}
