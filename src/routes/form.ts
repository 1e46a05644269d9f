import { once } from "node:events";
import { Busboy, type BusboyHeaders, type BusboyInstance } from "@fastify/busboy";
import { LIMITS } from "../config.ts";
import { AppError } from "../errors.ts";

/** A file part of a multipart body, while it arrives. */
export interface FormFile {
  field: string;
  filename: string;
  chunks: AsyncIterable<Uint8Array>;
}

/**
 * Reads a multipart body part by part, in the order it comes, holding none of it: `onFile` must
 * consume each file before the next arrives. Resolves to the plain fields. Throws
 * `unsupported_media_type`, `bad_request` (not multipart after all, cut off), `too_large`, and what
 * `onFile` throws, at once.
 */
export async function readForm(
  request: Request,
  onFile: (file: FormFile) => Promise<void>,
): Promise<Map<string, string>> {
  const type = request.headers.get("content-type") ?? "";
  if (!/^multipart\/form-data\b/i.test(type)) {
    throw new AppError("unsupported_media_type", "Send the upload as multipart/form-data.");
  }
  if (Number(request.headers.get("content-length") ?? 0) > LIMITS.uploadBytes + LIMITS.jsonBytes) {
    throw new AppError("too_large", "The upload is larger than the limit for one file.");
  }
  const fields = new Map<string, string>();
  const parser = openParser({ "content-type": type });
  const ended = once(parser, "finish");
  ended.catch(() => undefined);
  let reading: Promise<void> = Promise.resolve();
  const failed = new Promise<never>((_, reject) => {
    parser.on("error", (cause) => reject(malformed(cause)));
    parser.on("file", (field, stream, filename) => {
      reading = reading.then(() => onFile({ field, filename: filename ?? "", chunks: stream }));
      reading.then(() => stream.resume(), reject);
    });
  });
  parser.on("field", (name, value, _nameCut, valueCut) => {
    fields.set(name, valueCut ? "" : value);
  });
  await Promise.race([feed(request, parser), failed]);
  await Promise.race([ended, failed]);
  await Promise.race([reading, failed]);
  return fields;
}

function openParser(headers: BusboyHeaders): BusboyInstance {
  try {
    return new Busboy({ headers, limits: { fieldSize: LIMITS.fieldBytes, fields: 20, files: 5 } });
  } catch (cause) {
    throw malformed(cause);
  }
}

async function feed(request: Request, parser: BusboyInstance): Promise<void> {
  try {
    for await (const chunk of request.body ?? []) {
      if (!parser.write(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength))) {
        await once(parser, "drain");
      }
    }
    parser.end();
  } catch (cause) {
    throw malformed(cause);
  }
}

function malformed(cause: unknown): AppError {
  return new AppError("bad_request", "The multipart body is malformed or was cut off.", { cause });
}

/** All of a small part. Throws `too_large` past `maxBytes`. */
export async function readSmall(file: FormFile, maxBytes: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of file.chunks) {
    size += chunk.length;
    if (size > maxBytes) {
      throw new AppError("too_large", `The part "${file.field}" is larger than ${maxBytes} bytes.`);
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
