import { randomUUID } from "node:crypto";
import { createReadStream } from "node:fs";
import { basename } from "node:path";

/** A field of a form: a text, or the path of a file that is read as it is sent. */
export type FormField = { name: string } & ({ text: string } | { path: string });

export interface StreamedForm {
  contentType: string;
  body: ReadableStream<Uint8Array>;
}

/**
 * `multipart/form-data` that holds a piece of a file at a time, however large the file. `onSent`
 * hears the number of bytes taken so far.
 */
export function streamForm(fields: FormField[], onSent?: (bytes: number) => void): StreamedForm {
  const boundary = randomUUID();
  const contentType = `multipart/form-data; boundary=${boundary}`;
  return { contentType, body: ReadableStream.from(count(writeForm(fields, boundary), onSent)) };
}

async function* count(pieces: AsyncGenerator<Uint8Array>, onSent?: (bytes: number) => void) {
  let sent = 0;
  for await (const piece of pieces) {
    yield piece;
    sent += piece.length;
    onSent?.(sent);
  }
}

async function* writeForm(fields: FormField[], boundary: string): AsyncGenerator<Uint8Array> {
  for (const field of fields) {
    const file = "path" in field ? `; filename="${escape(basename(field.path))}"` : "";
    const type = "path" in field ? "Content-Type: application/octet-stream\r\n" : "";
    const disposition = `Content-Disposition: form-data; name="${field.name}"${file}\r\n`;
    yield Buffer.from(`--${boundary}\r\n${disposition}${type}\r\n`);
    if ("path" in field) yield* createReadStream(field.path, { highWaterMark: 256 * 1024 });
    else yield Buffer.from(field.text);
    yield Buffer.from("\r\n");
  }
  yield Buffer.from(`--${boundary}--\r\n`);
}

/** As the HTML standard escapes names in a form. */
function escape(name: string): string {
  return name.replaceAll('"', "%22").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
}
