import type { Next } from "hono";
import { LIMITS } from "../config.ts";
import { AppError, type ValidationIssue } from "../errors.ts";
import type { Checksum } from "../ingest/receive.ts";
import type { Context } from "./endpoint.ts";
import { MESSAGES } from "./pydantic.ts";

/** The protocol's version: https://tus.io/protocols/resumable-upload (1.0.0). */
const VERSION = "1.0.0";

const EXTENSIONS = [
  "creation",
  "creation-with-upload",
  "creation-defer-length",
  "termination",
  "expiration",
  "checksum",
];

const ALGORITHMS = new Map<string, { name: Checksum["algorithm"]; bytes: number }>([
  ["sha1", { name: "SHA-1", bytes: 20 }],
  ["sha256", { name: "SHA-256", bytes: 32 }],
  ["md5", { name: "MD5", bytes: 16 }],
]);

export const OFFSET_OCTETS = "application/offset+octet-stream";

/** For browsers of other origins. */
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

/** Every answer says the version; that of OPTIONS, which needs no key, what is understood of it. */
export async function tus(c: Context, next: Next): Promise<void> {
  await next();
  c.header("Tus-Resumable", VERSION);
  const isAsked = c.req.method === "OPTIONS";
  if (isAsked || c.res.status === 412) c.header("Tus-Version", VERSION);
  if (!isAsked) return;
  c.header("Tus-Extension", EXTENSIONS.join(","));
  c.header("Tus-Max-Size", String(LIMITS.uploadBytes));
  c.header("Tus-Checksum-Algorithm", [...ALGORITHMS.keys()].join(","));
}

/** Throws `precondition_failed` where the client doesn't speak our version. */
export function requireVersion(c: Context): void {
  if (c.req.header("tus-resumable") === VERSION) return;
  throw new AppError("precondition_failed", `Say Tus-Resumable: ${VERSION}.`);
}

/** Throws `unsupported_media_type` where the body isn't told to be bytes of the file. */
export function requireOctets(c: Context): void {
  const type = c.req.header("content-type")?.split(";")[0]!.trim().toLowerCase();
  if (type === OFFSET_OCTETS) return;
  throw new AppError("unsupported_media_type", `Send the bytes as Content-Type ${OFFSET_OCTETS}.`);
}

/** A whole number of bytes in a header; null where there is none, or it is none: that is added to `issues`. */
export function readBytes(c: Context, name: string, issues: ValidationIssue[]): number | null {
  const text = c.req.header(name);
  if (text === undefined) return null;
  if (/^\d{1,15}$/.test(text)) return Number(text);
  issues.push({ loc: ["header", name], msg: MESSAGES.int_parsing, type: "int_parsing" });
  return null;
}

/**
 * The length of a new upload; null where it is told later. Throws `bad_request`, as the protocol wants, and
 * `too_large`.
 */
export function readLength(c: Context, issues: ValidationIssue[]): number | null {
  const deferred = c.req.header("upload-defer-length");
  const length = readBytes(c, "upload-length", issues);
  const isTold = c.req.header("upload-length") !== undefined;
  if (c.req.header("upload-concat") !== undefined) {
    throw new AppError("bad_request", "Uploads aren't concatenated: send the file as one.");
  }
  if (deferred !== undefined && (deferred !== "1" || isTold)) {
    throw new AppError("bad_request", "Say either Upload-Length or Upload-Defer-Length: 1.");
  }
  if (deferred === undefined && !isTold) {
    issues.push({ loc: ["header", "upload-length"], msg: MESSAGES.missing, type: "missing" });
  }
  requireLength(length, issues);
  return length;
}

/** Throws `too_large`; an empty file is an issue. */
export function requireLength(length: number | null, issues: ValidationIssue[]): void {
  if (length === 0) {
    const msg = "Input should be greater than or equal to 1";
    issues.push({ loc: ["header", "upload-length"], msg, type: "greater_than_equal" });
  }
  if (length !== null && length > LIMITS.uploadBytes) {
    const message = `The file is larger than the limit of ${LIMITS.uploadBytes} bytes.`;
    throw new AppError("too_large", message);
  }
}

/** Throws `bad_request` where it is none that we can check. */
export function readChecksum(c: Context): Checksum | null {
  const text = c.req.header("upload-checksum");
  if (text === undefined) return null;
  const [name = "", encoded = "", ...rest] = text.trim().split(" ");
  const algorithm = ALGORITHMS.get(name);
  const digest = Buffer.from(encoded, "base64");
  if (!algorithm || digest.length !== algorithm.bytes || rest.length > 0) {
    const known = [...ALGORITHMS.keys()].join(", ");
    throw new AppError("bad_request", `Upload-Checksum is one of ${known}, a space, and base64.`);
  }
  return { algorithm: algorithm.name, digest };
}
