import { randomUUID } from "node:crypto";
import { createReadStream } from "node:fs";
import { basename } from "node:path";

/** A form field: text, or the path of a file that is streamed. */
export type FormField = { name: string } & ({ text: string } | { path: string });

export interface StreamedForm {
  contentType: string;
  body: ReadableStream<Uint8Array>;
}

/**
 * Streams `multipart/form-data` with one chunk of a file in memory at a time. `onSent` gets the
 * number of bytes sent so far.
 */
export function streamForm(fields: FormField[], onSent?: (bytes: number) => void): StreamedForm {
  const boundary = randomUUID();
  const contentType = `multipart/form-data; boundary=${boundary}`;
  return {
    contentType,
    body: ReadableStream.from(countBytes(writeForm(fields, boundary), onSent)),
  };
}

async function* countBytes(chunks: AsyncGenerator<Uint8Array>, onSent?: (bytes: number) => void) {
  let sent = 0;
  for await (const chunk of chunks) {
    yield chunk;
    sent += chunk.length;
    onSent?.(sent);
  }
}

async function* writeForm(fields: FormField[], boundary: string): AsyncGenerator<Uint8Array> {
  for (const field of fields) {
    const file = "path" in field ? `; filename="${escapeName(basename(field.path))}"` : "";
    const type = "path" in field ? "Content-Type: application/octet-stream\r\n" : "";
    const disposition = `Content-Disposition: form-data; name="${field.name}"${file}\r\n`;
    yield Buffer.from(`--${boundary}\r\n${disposition}${type}\r\n`);
    if ("path" in field) yield* createReadStream(field.path, { highWaterMark: 256 * 1024 });
    else yield Buffer.from(field.text);
    yield Buffer.from("\r\n");
  }
  yield Buffer.from(`--${boundary}--\r\n`);
}

/** Escapes a field name or file name as the HTML standard does in forms. */
function escapeName(name: string): string {
  return name.replaceAll('"', "%22").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
}
