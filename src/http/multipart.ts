import { once } from "node:events";
import type { Readable } from "node:stream";
import { Busboy, type BusboyInstance } from "@fastify/busboy";
import { splitPath } from "../asset-names.ts";
import { LIMITS } from "../config.ts";
import { AppError, invalid, ValidationError, type ValidationIssue } from "../errors.ts";
import { ignoreAfterUse } from "../ignored-errors.ts";
import { append } from "../lists.ts";
import { HEAD_BYTES, requireMediaType } from "../media/media-type.ts";
import { unknownFieldIssues } from "./near-names.ts";
import { MESSAGES } from "./pydantic-errors.ts";
import { fieldSchema, validate } from "./validation.ts";
import * as z from "./zod.ts";

/** `parts` also counts parts that are neither, such as one without a name. */
const MAX_PARTS = { fields: 20, files: 5, parts: 25 } as const;
/** Bytes that are parsed at once. A larger chunk is divided, so that parsing stops soon. */
const MAX_PARSED_BYTES = 16 * 1024;
const MAX_BODY_BYTES = LIMITS.uploadBytes + LIMITS.jsonBytes;

/** A file part of a multipart body, streamed as it arrives. */
export interface FormFile {
  field: string;
  /** Without folders, and with the characters that forms escape. */
  filename: string;
  /** Its folder, with `/`; empty without one. */
  folder: string;
  chunks: AsyncIterable<Uint8Array>;
}

/** Whether the body of a request is a multipart form. */
export function isFormRequest({ headers }: Request): boolean {
  return /^multipart\/form-data\b/i.test(headers.get("content-type") ?? "");
}

/**
 * Reads a multipart body part by part without buffering it: `onFile` must consume each file before
 * the next one arrives. Resolves to the text parts. Throws `bad_request`
 * (malformed or cut off), `too_large`, and what `onFile` throws.
 *
 * Parsing stops at the first error. The error is thrown after the rest of the body was read and
 * discarded, up to `LIMITS.drainBytes` and `LIMITS.drainMs`: many clients don't read a response
 * while they are still sending.
 */
export async function readParts(
  request: Request,
  onFile: (file: FormFile) => Promise<void>,
): Promise<Map<string, string>> {
  const type = request.headers.get("content-type") ?? "";
  if (Number(request.headers.get("content-length") ?? 0) > MAX_BODY_BYTES) throw bodyTooLarge();
  const fields = new Map<string, string>();
  const parser = openParser(type);
  const body = request.body?.getReader();
  const failures: unknown[] = [];
  let reading: Promise<void> = Promise.resolve();
  let current: Readable | undefined;
  parser.on("error", (cause) => failures.push(malformedBody(cause)));
  parser.on("field", (name, value, _nameCut, valueCut) => {
    if (valueCut) failures.push(partTooLarge(name, LIMITS.fieldBytes));
    fields.set(name, value);
  });
  for (const kind of ["fields", "files", "parts"] as const) {
    const message = `The form has more than ${MAX_PARTS[kind]} ${kind}.`;
    parser.on(`${kind}Limit`, () => failures.push(new AppError("too_large", message)));
  }
  parser.on("file", (field, stream, filename) => {
    current = stream;
    stream.on("error", () => undefined); // the reader gets it, too
    const chunks: AsyncIterable<Uint8Array> = stream.iterator({ destroyOnReturn: false });
    const { name, folder } = splitPath(unescapeFilename(filename));
    const file = { field, filename: name, folder, chunks };
    reading = reading
      .then(() => (failures.length === 0 ? onFile(file) : undefined))
      .catch((error: unknown) => void failures.push(error))
      .then(() => void stream.resume());
  });
  await feedParser(body, parser, failures).catch((error: unknown) => failures.push(error));
  // Rejects the pending read of `onFile`: no more of its file will come.
  if (failures.length > 0) current?.destroy(new Error("the upload was interrupted"));
  await discardBody(body);
  await reading;
  if (failures.length > 0) throw failures[0];
  return fields;
}

/** Characters that browsers escape in a form (HTML standard, 4.10.21.8). They escape no `%`. */
const ESCAPES: Readonly<Record<string, string>> = { "%22": '"', "%0D": "\r", "%0A": "\n" };

function unescapeFilename(name: string): string {
  return name.replaceAll(/%(?:22|0D|0A)/g, (escape) => ESCAPES[escape]!);
}

type BodyReader = ReadableStreamDefaultReader<Uint8Array>;

/** Writes the body to the parser, until the form ends or there is a failure. */
async function feedParser(
  body: BodyReader | undefined,
  parser: BusboyInstance,
  failures: unknown[],
): Promise<void> {
  const isOver = () => failures.length > 0 || parser.destroyed;
  let bytes = 0;
  for (let chunk = await readChunk(body); chunk; chunk = await readChunk(body)) {
    bytes += chunk.length;
    if (bytes > MAX_BODY_BYTES) throw bodyTooLarge();
    for (let start = 0; start < chunk.length; start += MAX_PARSED_BYTES) {
      const { buffer, byteOffset, byteLength } = chunk.subarray(start, start + MAX_PARSED_BYTES);
      const slice = Buffer.from(buffer, byteOffset, byteLength); // without a copy
      if (!parser.write(slice)) await waitForEvent(parser, "drain");
      if (isOver()) return;
    }
  }
  if (isOver()) return;
  const finished = waitForEvent(parser, "finish");
  parser.end();
  await finished;
  if (!parser.writableFinished && failures.length === 0) throw malformedBody("no end");
}

/** Reads a chunk; undefined at the end. Throws `bad_request` if the connection breaks. */
async function readChunk(body: BodyReader | undefined): Promise<Uint8Array | undefined> {
  try {
    return (await body?.read())?.value;
  } catch (cause) {
    throw malformedBody(cause);
  }
}

/** Reads and discards the rest of a body, up to `LIMITS.drainBytes` and `LIMITS.drainMs`. */
async function discardBody(body: BodyReader | undefined): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const timeout = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), LIMITS.drainMs);
  });
  try {
    for (let bytes = 0; bytes <= LIMITS.drainBytes;) {
      const chunk = await Promise.race([readChunk(body), timeout]);
      if (!chunk) break;
      bytes += chunk.length;
    }
  } catch {
    // The connection broke: there is nothing more to discard.
  } finally {
    clearTimeout(timer);
    body?.cancel().catch(ignoreAfterUse);
  }
}

/** Waits for an event or an error. */
async function waitForEvent(parser: BusboyInstance, event: string): Promise<void> {
  await once(parser, event).catch(ignoreRecorded);
}

/** Ignores an error of the parser: `readForm` listens for errors and records them. */
function ignoreRecorded(): void {}

function openParser(type: string): BusboyInstance {
  try {
    const limits = { fieldSize: LIMITS.fieldBytes, ...MAX_PARTS };
    return new Busboy({ headers: { "content-type": type }, limits, preservePath: true });
  } catch (cause) {
    throw malformedBody(cause);
  }
}

function malformedBody(cause: unknown): AppError {
  return new AppError("bad_request", "The multipart body is malformed or was cut off.", { cause });
}

function bodyTooLarge(): AppError {
  return new AppError("too_large", "The upload is larger than the limit for one file.");
}

function partTooLarge(name: string, maxBytes: number): AppError {
  return new AppError("too_large", `The part "${name}" is larger than ${maxBytes} bytes.`);
}

/** Reads a small part into memory. Throws `too_large` past `maxBytes`. */
export async function readSmallPart(file: FormFile, maxBytes: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of file.chunks) {
    size += chunk.length;
    if (size > maxBytes) throw partTooLarge(file.field, maxBytes);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Stands for a file when a form is validated: what was made of it is of any type. */
const FILE = Symbol("a file");

/** Schema of a file part, which a reader makes a `T` of. */
export function formFile<T = Uint8Array>() {
  const message = "Expected a file, got text: name a file, with curl as -F name=@path";
  return z
    .custom<T>((value) => value === FILE, message)
    .openapi({ type: "string", format: "binary" });
}

/** Schema of a part that may be a file or text. */
export function formFileOrText<T = Uint8Array>() {
  return z
    .custom<T | string>((value) => value === FILE || typeof value === "string")
    .openapi({ type: "string", format: "binary" });
}

/** Parts of a form as they were sent: texts, and what the readers made of files. */
export type SentParts = ReadonlyMap<string, unknown>;

interface FormOptions {
  /** Makes the value of a file part, by its name. Others are ignored. */
  readers?: Readonly<Record<string, (file: FormFile) => Promise<object>>>;
  /** Parameters of the query string, which mustn't be sent in the form. */
  query?: z.ZodObject | undefined;
  /** Rules that the schema can't express. They get the parts as they were sent. */
  rules?: (sent: SentParts) => ValidationIssue[];
  /** Reads a request without a body as an empty form. */
  isOptional?: boolean;
}

/**
 * Reads a form by its schema. A file in place of a text is read as a text. Throws a
 * `ValidationError` with all issues, and what `readParts` and readers throw.
 */
export async function readForm<Form extends z.ZodObject>(
  request: Request,
  form: Form,
  { readers = {}, query, rules, isOptional = false }: FormOptions,
): Promise<z.output<Form>> {
  const files = new Map<string, unknown>();
  const isEmpty = request.body === null || request.headers.get("content-length") === "0";
  const readFile = async (part: FormFile) => {
    const schema = fieldSchema(form, part.field);
    const isText = schema?.safeParse(FILE).success === false;
    const read = isText ? readTextPart : schema && readers[part.field];
    files.set(part.field, (await read?.(part)) ?? FILE);
  };
  const hasForm = !isOptional || !isEmpty;
  if (hasForm && !isFormRequest(request)) throw notForm(form);
  const texts = hasForm ? await readParts(request, readFile) : [];
  const sent: SentParts = new Map([...texts, ...files]);
  const isObject = (value: unknown) => typeof value === "object";
  const values = Object.fromEntries(
    [...sent].map(([name, value]) => [name, isObject(value) ? FILE : value]),
  );
  const other = { schema: query, place: "in the query string" };
  const issues = unknownFieldIssues(form, values, ["body"], other);
  const fields = validate("form", form, values, issues);
  append(issues, rules?.(sent) ?? []);
  if (!fields || issues.length > 0) throw new ValidationError(issues.map(withPartNames(sent)));
  const made = Object.fromEntries([...files].filter(([, value]) => isObject(value)));
  return { ...fields, ...made };
}

/** Makes the error of a body that isn't a form. */
function notForm({ shape }: z.ZodObject): AppError {
  const url = Object.keys(shape).find((name) => name.endsWith("_url"));
  const other = url ? `, or no body and ?${url}=https://… in the path` : "";
  const names = Object.keys(shape).join(", ");
  const message = `Send the upload as multipart/form-data, with ${names}${other}.`;
  return new AppError("unsupported_media_type", message);
}

/** Adds the names of the parts that arrived to the issue of a missing part. */
function withPartNames(sent: SentParts) {
  const names = [...sent.keys()].map((name) => `"${name.slice(0, 40)}"`).join(", ");
  return (issue: ValidationIssue): ValidationIssue => {
    if (issue.type !== "missing" || names === "") return issue;
    return { ...issue, msg: `${issue.msg}: the form has only ${names}` };
  };
}

/** Reads a file in place of a text. Throws a `ValidationError` if it isn't UTF-8. */
async function readTextPart(part: FormFile): Promise<string> {
  const bytes = await readSmallPart(part, LIMITS.fieldBytes);
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: false }).decode(bytes);
  } catch {
    throw invalid(["body", part.field], "string_unicode", MESSAGES.string_unicode);
  }
}

/**
 * Collects the issues of a form whose request is already invalid. Returns none if the body is
 * larger than `LIMITS.jsonBytes`, because the response would wait for the upload, or if it is
 * malformed.
 */
export async function collectFormIssues(
  request: Request,
  form: z.ZodObject,
  query: z.ZodObject,
): Promise<ValidationIssue[]> {
  const size = Number(request.headers.get("content-length") ?? Infinity);
  if (size > LIMITS.jsonBytes) return [];
  try {
    await readForm(request, form, { query });
    return [];
  } catch (error) {
    if (error instanceof ValidationError) return error.issues;
    if (error instanceof AppError) return [];
    throw error;
  }
}

/** Reads the part `image_file`: an image of at most `LIMITS.imageBytes`. */
export const imageReaders = {
  async image_file(part: FormFile): Promise<Uint8Array> {
    const image = await readSmallPart(part, LIMITS.imageBytes);
    await requireMediaType(image.subarray(0, HEAD_BYTES), "image");
    return image;
  },
};

/** Rethrows errors about an uploaded image as a `ValidationError`, and others unchanged. */
export function throwImageAsInvalid(error: unknown): never {
  if (!(error instanceof AppError && error.code === "unreadable_image")) throw error;
  throw invalid(["body", "image_file"], "value_error", error.message);
}
