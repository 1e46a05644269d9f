import type { Next } from "hono";
import { cleanTitle, splitPath } from "../asset-names.ts";
import { LIMITS } from "../config.ts";
import { AppError, invalid, ValidationError, type ValidationIssue } from "../errors.ts";
import type { Checksum } from "../ingest/upload-writer.ts";
import { append } from "../lists.ts";
import type { JsonObject } from "../types.ts";
import type { Context } from "./context.ts";
import { userMetadata } from "./fields.ts";
import { parseJson, reject, validate } from "./validation.ts";
import * as z from "./zod.ts";

/** Version of the tus protocol: https://tus.io/protocols/resumable-upload */
const TUS_VERSION = "1.0.0";

const TUS_EXTENSIONS = "creation,creation-with-upload,termination,expiration,checksum";

const CHECKSUM_ALGORITHMS = new Map<string, { name: Checksum["algorithm"]; bytes: number }>([
  ["sha1", { name: "SHA-1", bytes: 20 }],
  ["sha256", { name: "SHA-256", bytes: 32 }],
  ["md5", { name: "MD5", bytes: 16 }],
]);

export const OFFSET_OCTET_STREAM = "application/offset+octet-stream";

/** Headers that browsers of other origins may send and read (CORS). */
export const TUS_REQUEST_HEADERS =
  "Tus-Resumable, Upload-Length, Upload-Offset, Upload-Metadata, Upload-Checksum, " +
  " Upload-Concat, X-HTTP-Method-Override, X-Requested-With";
export const TUS_RESPONSE_HEADERS =
  "Location, Tus-Resumable, Tus-Version, Tus-Extension, Tus-Max-Size, Tus-Checksum-Algorithm, " +
  "Upload-Length, Upload-Offset, Upload-Metadata, Upload-Expires";

/** Sets the protocol headers: the version always, supported extensions and limits on OPTIONS. */
export async function tusHeaders(c: Context, next: Next): Promise<void> {
  await next();
  c.header("Tus-Resumable", TUS_VERSION);
  const isOptions = c.req.method === "OPTIONS";
  if (isOptions || c.res.status === 412) c.header("Tus-Version", TUS_VERSION);
  if (!isOptions) return;
  c.header("Tus-Extension", TUS_EXTENSIONS);
  c.header("Tus-Max-Size", String(LIMITS.uploadBytes));
  c.header("Tus-Checksum-Algorithm", [...CHECKSUM_ALGORITHMS.keys()].join(","));
}

/** "If the version … is not supported by the Server, it MUST respond with the 412" (tus 1.0). */
export function requireTusVersion(c: Context): void {
  if (c.req.header("tus-resumable") === TUS_VERSION) return;
  const others = "A form goes to …/video or …/image.";
  const message = `Send the header Tus-Resumable: ${TUS_VERSION}. ${others}`;
  throw new AppError("precondition_failed", message);
}

/** "All PATCH requests MUST use Content-Type: application/offset+octet-stream". */
export function requireOffsetOctetStream(c: Context): void {
  const type = c.req.header("content-type")?.split(";")[0]!.trim().toLowerCase();
  if (type === OFFSET_OCTET_STREAM) return;
  const message = `Send the bytes as Content-Type ${OFFSET_OCTET_STREAM}.`;
  throw new AppError("unsupported_media_type", message);
}

const byteCount = (min: number) =>
  z
    .string()
    .transform((text, ctx) =>
      /^\d{1,15}$/.test(text) ? Number(text) : reject(ctx, "int_parsing", "a number of bytes"),
    )
    .pipe(z.int().min(min, "the file is empty"));

const creationHeaders = z.object({ "upload-length": byteCount(1) });
const appendHeaders = z.object({ "upload-offset": byteCount(0) });

export interface Creation {
  /** Bytes. */
  length: number;
  title: string | null;
  folder: string;
  metadata: JsonObject;
  /** The `Upload-Metadata` header, unparsed. */
  uploadMetadata: string;
}

/** Reads the headers of a new upload. Throws `too_large`, `bad_request` and a `ValidationError`. */
export function readCreation(c: Context): Creation {
  if (c.req.header("upload-concat") !== undefined) {
    const message = "Concatenation isn't supported: send the file as one upload.";
    throw new AppError("bad_request", message);
  }
  const issues: ValidationIssue[] = [];
  const uploadMetadata = c.req.header(METADATA) ?? "";
  const described = readUploadMetadata(uploadMetadata, issues);
  const length = validate("header", creationHeaders, c.req.header(), issues)?.["upload-length"];
  // "If the length of the upload exceeds the maximum, … the Server MUST respond with the 413".
  if (length !== undefined && length > LIMITS.uploadBytes) {
    const message = `The file is larger than the limit of ${LIMITS.uploadBytes} bytes.`;
    throw new AppError("too_large", message);
  }
  if (issues.length > 0) throw new ValidationError(issues);
  return { ...described, length: length!, uploadMetadata };
}

/** Reads the offset of a request that appends bytes. Throws a `ValidationError`. */
export function readOffset(c: Context): number {
  const issues: ValidationIssue[] = [];
  const sent = validate("header", appendHeaders, c.req.header(), issues);
  if (!sent) throw new ValidationError(issues);
  return sent["upload-offset"];
}

/**
 * Reads the checksum; null if absent. "400 Bad Request if the checksum algorithm is not supported
 * by the server".
 */
export function readChecksum(c: Context): Checksum | null {
  const text = c.req.header("upload-checksum");
  if (text === undefined) return null;
  const [name = "", encoded = "", ...rest] = text.trim().split(" ");
  const algorithm = CHECKSUM_ALGORITHMS.get(name);
  const digest = Buffer.from(encoded, "base64");
  if (algorithm && digest.length === algorithm.bytes && rest.length === 0) {
    return { algorithm: algorithm.name, digest };
  }
  const known = [...CHECKSUM_ALGORITHMS.keys()].join(", ");
  const message = `Upload-Checksum must be one of ${known}, a space and the digest in base64.`;
  throw new AppError("bad_request", message);
}

const METADATA = "upload-metadata";

/** A key and its base64 value, which is optional. */
const PAIR =
  /^([\x21-\x2b\x2d-\x7e]+)(?: +((?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}(?:==)?|[A-Za-z0-9+/]{3}=?)?))?$/;

const metadataSchema = z.object({
  [METADATA]: z.object({ filename: z.string().optional(), metadata_str: userMetadata.optional() }),
});

/**
 * Parses tus's `Upload-Metadata` and reads the keys `filename`, or else `name`, with its folders,
 * and `metadata_str` (JSON). Malformed pairs and values are added to `issues`.
 */
export function readUploadMetadata(header: string, issues: ValidationIssue[]) {
  try {
    const { name, filename = name, metadata_str: json } = parsePairs(header);
    const metadata_str = parseJson(json || "{}", ["header", METADATA, "metadata_str"]);
    const pairs = { [METADATA]: { filename, metadata_str } };
    const valid = validate("header", metadataSchema, pairs, issues)?.[METADATA];
    const { name: title, folder } = splitPath(valid?.filename ?? "");
    return {
      title: cleanTitle(title) || null,
      folder,
      metadata: valid?.metadata_str ?? {},
    };
  } catch (error) {
    if (!(error instanceof ValidationError)) throw error;
    append(issues, error.issues);
    return { title: null, folder: "", metadata: {} };
  }
}

/** "The Upload-Metadata … MUST consist of one or more comma-separated key-value pairs." */
function parsePairs(header: string): Partial<Record<string, string>> {
  const { uploadMetadataCharacters: max } = LIMITS;
  if (header.length > max) throw invalidMetadata(`At most ${max} characters`);
  const values = new Map<string, string>();
  for (const pair of header.split(",").map((part) => part.trim())) {
    if (pair === "") continue;
    const [, name, encoded = ""] = PAIR.exec(pair) ?? [];
    const value = decode(encoded);
    if (name === undefined || value === null || values.has(name)) {
      throw invalidMetadata("Each pair must be a unique key, a space and a UTF-8 text in base64");
    }
    values.set(name, value);
  }
  return Object.fromEntries(values);
}

function invalidMetadata(message: string): ValidationError {
  return invalid(["header", METADATA], "value_error", message);
}

function decode(encoded: string): string | null {
  try {
    const bytes = Buffer.from(encoded, "base64");
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}
