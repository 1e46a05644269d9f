import type { Next } from "hono";
import { LIMITS } from "../config.ts";
import { AppError, type ValidationIssue } from "../errors.ts";
import type { Checksum } from "../ingest/receive.ts";
import type { Context } from "./context.ts";
import { MESSAGES } from "./pydantic-errors.ts";

/** Version of the tus protocol: https://tus.io/protocols/resumable-upload */
const TUS_VERSION = "1.0.0";

const TUS_EXTENSIONS = [
  "creation",
  "creation-with-upload",
  "creation-defer-length",
  "termination",
  "expiration",
  "checksum",
];

const CHECKSUM_ALGORITHMS = new Map<string, { name: Checksum["algorithm"]; bytes: number }>([
  ["sha1", { name: "SHA-1", bytes: 20 }],
  ["sha256", { name: "SHA-256", bytes: 32 }],
  ["md5", { name: "MD5", bytes: 16 }],
]);

export const OFFSET_OCTET_STREAM = "application/offset+octet-stream";

/** Headers that browsers of other origins may send and read (CORS). */
export const TUS_REQUEST_HEADERS = [
  "Tus-Resumable",
  "Upload-Length",
  "Upload-Defer-Length",
  "Upload-Offset",
  "Upload-Metadata",
  "Upload-Checksum",
  "Upload-Concat",
  "X-HTTP-Method-Override",
  "X-Requested-With",
];
export const TUS_RESPONSE_HEADERS = [
  "Location",
  "Tus-Resumable",
  "Tus-Version",
  "Tus-Extension",
  "Tus-Max-Size",
  "Tus-Checksum-Algorithm",
  "Upload-Length",
  "Upload-Defer-Length",
  "Upload-Offset",
  "Upload-Metadata",
  "Upload-Expires",
];

/** Sets the protocol headers: the version always, supported extensions and limits on OPTIONS. */
export async function tusHeaders(c: Context, next: Next): Promise<void> {
  await next();
  c.header("Tus-Resumable", TUS_VERSION);
  const isOptions = c.req.method === "OPTIONS";
  if (isOptions || c.res.status === 412) c.header("Tus-Version", TUS_VERSION);
  if (!isOptions) return;
  c.header("Tus-Extension", TUS_EXTENSIONS.join(","));
  c.header("Tus-Max-Size", String(LIMITS.uploadBytes));
  c.header("Tus-Checksum-Algorithm", [...CHECKSUM_ALGORITHMS.keys()].join(","));
}

/** Throws `precondition_failed` unless the client sends a supported `Tus-Resumable` version. */
export function requireTusVersion(c: Context): void {
  if (c.req.header("tus-resumable") === TUS_VERSION) return;
  throw new AppError("precondition_failed", `Send the header Tus-Resumable: ${TUS_VERSION}.`);
}

/** Throws `unsupported_media_type` unless the body is declared as `OFFSET_OCTET_STREAM`. */
export function requireOffsetOctetStream(c: Context): void {
  const type = c.req.header("content-type")?.split(";")[0]!.trim().toLowerCase();
  if (type === OFFSET_OCTET_STREAM) return;
  throw new AppError(
    "unsupported_media_type",
    `Send the bytes as Content-Type ${OFFSET_OCTET_STREAM}.`,
  );
}

/** Reads a byte count from a header. Returns null if missing, and adds an issue if malformed. */
export function readByteCount(c: Context, name: string, issues: ValidationIssue[]): number | null {
  const text = c.req.header(name);
  if (text === undefined) return null;
  if (/^\d{1,15}$/.test(text)) return Number(text);
  issues.push({ loc: ["header", name], msg: MESSAGES.int_parsing, type: "int_parsing" });
  return null;
}

/**
 * Reads the length of a new upload in bytes; null if the client deferred it. Throws `too_large`
 * and, as the protocol requires, `bad_request` for contradicting headers and concatenation.
 */
export function readUploadLength(c: Context, issues: ValidationIssue[]): number | null {
  const deferred = c.req.header("upload-defer-length");
  const length = readByteCount(c, "upload-length", issues);
  const hasLength = c.req.header("upload-length") !== undefined;
  if (c.req.header("upload-concat") !== undefined) {
    throw new AppError(
      "bad_request",
      "Concatenation isn't supported: send the file as one upload.",
    );
  }
  if (deferred !== undefined && (deferred !== "1" || hasLength)) {
    throw new AppError("bad_request", "Send either Upload-Length or Upload-Defer-Length: 1.");
  }
  if (deferred === undefined && !hasLength) {
    issues.push({ loc: ["header", "upload-length"], msg: MESSAGES.missing, type: "missing" });
  }
  requireUploadLength(length, issues);
  return length;
}

/** Throws `too_large` past `LIMITS.uploadBytes`. Adds an issue for an empty file. */
export function requireUploadLength(length: number | null, issues: ValidationIssue[]): void {
  if (length === 0) {
    const msg = "Input should be greater than or equal to 1";
    issues.push({ loc: ["header", "upload-length"], msg, type: "greater_than_equal" });
  }
  if (length !== null && length > LIMITS.uploadBytes) {
    const message = `The file is larger than the limit of ${LIMITS.uploadBytes} bytes.`;
    throw new AppError("too_large", message);
  }
}

/** Reads the checksum of a request; null if absent. Throws `bad_request` if it is malformed. */
export function readChecksum(c: Context): Checksum | null {
  const text = c.req.header("upload-checksum");
  if (text === undefined) return null;
  const [name = "", encoded = "", ...rest] = text.trim().split(" ");
  const algorithm = CHECKSUM_ALGORITHMS.get(name);
  const digest = Buffer.from(encoded, "base64");
  if (!algorithm || digest.length !== algorithm.bytes || rest.length > 0) {
    const known = [...CHECKSUM_ALGORITHMS.keys()].join(", ");
    const message = `Upload-Checksum must be one of ${known}, a space and the digest in base64.`;
    throw new AppError("bad_request", message);
  }
  return { algorithm: algorithm.name, digest };
}
