import * as z from "zod";
import { lineOfText } from "../clean-text.ts";
import type { FrameFormat, PlannedRecording } from "../derived-media.ts";
import { AppError } from "../errors.ts";
import { parseJsonText } from "../json-parse.ts";
import { CONVERSION } from "../parameters.ts";
import type { ExpectedPart } from "./container/mp4-part.ts";
import { type ExternalDecoder, requestDecoder } from "./decoder.ts";

/** A file that the decoder converts. It is sent once, in blocks, and named by `id` from then on. */
export interface ConvertedFile {
  id: string;
  sizeBytes: number;
  /** Reads a range; its length is known. */
  read: (offset: number, length: number) => Promise<ReadableStream<Uint8Array>>;
}

const MAX_RECORDINGS = 1000;
const text = lineOfText(100);
const side = z.int().min(1).max(100_000);
const seconds = z.number().min(-1e9).max(1e9);
const measured = z.object({
  container: text,
  duration_seconds: seconds,
  recordings: z
    .array(
      z.object({
        start_byte: z.int().min(0),
        end_byte: z.int().min(1),
        origin_seconds: seconds,
        duration_seconds: z.number().min(0).max(1e9),
      }),
    )
    .min(1)
    .max(MAX_RECORDINGS),
  missing: z
    .object({ bytes: z.int().min(0), seconds: z.number().min(0), from_seconds: seconds })
    .nullable(),
  video: z
    .object({
      codec: text,
      width: side,
      height: side,
      fps: z.number().min(0).max(1e6),
      rotation: z.int().min(-360).max(360),
    })
    .nullable(),
  audio: z.object({ codec: text }).nullable(),
  /** `10:00:00:00`. */
  start_timecode: text.nullable(),
});

/** What a file is, as the decoder reads it. Sizes are upright. */
export type MeasuredVideo = z.infer<typeof measured>;

export type PartRequest = ExpectedPart &
  Pick<PlannedRecording, "bytes" | "originSeconds"> & { frameFormat: FrameFormat | null };

/**
 * Sends a file to the decoder, and returns what it is: null if the decoder can't read it. Throws
 * what `requestDecoder` throws, `upstream_failed`, and what `read` throws.
 */
export async function measureFile(
  env: ExternalDecoder,
  file: ConvertedFile,
): Promise<MeasuredVideo | null> {
  const response = await withFile(env, file, () =>
    request(env, "POST", "measure", { file: file.id }),
  );
  return response && parse(measured, await requireOk(response));
}

/**
 * Converts up to a minute of a file, and returns the bytes of an MP4. Sends the file if the decoder
 * hasn't got it any more. Throws what `measureFile` throws, and `unreadable_container` if the
 * decoder can't read this part.
 */
export async function convertPart(
  env: ExternalDecoder,
  file: ConvertedFile,
  { startMs, endMs, frameFormat, audio, originSeconds, bytes }: PartRequest,
): Promise<ReadableStream<Uint8Array>> {
  const query = {
    file: file.id,
    start_ms: startMs,
    end_ms: endMs,
    ...(frameFormat && { ...frameFormat, fps: frameFormat.fps.toFixed(3) }),
    origin: originSeconds.toFixed(9),
    ...(bytes && { start_byte: bytes.start, end_byte: bytes.end }),
    audio: String(audio),
  };
  const response = await withFile(env, file, () => request(env, "POST", "part", query));
  if (!response) {
    const range = `${Math.floor(startMs / 1000)} to ${Math.ceil(endMs / 1000)} s`;
    throw new AppError(
      "unreadable_container",
      `The decoder can't convert the file from ${range}: it is damaged there, or too complex.`,
    );
  }
  return (await requireOk(response)).body!;
}

/** Lets the decoder delete its copy of a file. It would be deleted later, too. */
export async function releaseFile(env: ExternalDecoder, file: ConvertedFile): Promise<void> {
  const response = await request(env, "DELETE", "file", { file: file.id });
  await response.body?.cancel();
}

const MAX_VALUES = 20_000;
const MISSING = 404;
const UNREADABLE = 422;
/** Calls of one operation, between which the decoder may lose the file. */
const MAX_CALLS = 3;

/** Returns the response of an operation on a file; null if the decoder can't read it. */
async function withFile(
  env: ExternalDecoder,
  file: ConvertedFile,
  call: () => Promise<Response>,
): Promise<Response | null> {
  for (let calls = 1; ; calls++) {
    const response = await call();
    if (response.status !== MISSING && response.status !== UNREADABLE) return response;
    await response.body?.cancel();
    if (response.status === UNREADABLE) return null;
    if (calls === MAX_CALLS) throw failed("loses the file");
    await sendFile(env, file);
  }
}

const missingBlocks = z.object({
  block_bytes: z.int().min(1_000_000).max(64_000_000),
  missing: z.array(z.int().min(0)).max(10_000),
});

/** Sends the missing blocks of a file, any of them first: several parts may send it at a time. */
async function sendFile(env: ExternalDecoder, { id, sizeBytes, read }: ConvertedFile) {
  const query = { file: id, size: sizeBytes };
  const ask = async (response: Response) => parse(missingBlocks, await requireOk(response));
  let { missing, block_bytes: blockBytes } = await ask(await request(env, "GET", "file", query));
  for (let sent = 0; missing.length > 0; sent++) {
    const block = missing[Math.floor(Math.random() * missing.length)]!;
    const length = Math.min(blockBytes, sizeBytes - block * blockBytes);
    if (length <= 0 || sent > sizeBytes / blockBytes + MAX_CALLS) throw failed("loses blocks");
    const body = await read(block * blockBytes, length);
    ({ missing } = await ask(await request(env, "PUT", "file", { ...query, block }, body)));
  }
}

async function request(
  env: ExternalDecoder,
  method: string,
  path: string,
  query: Record<string, string | number>,
  body?: ReadableStream<Uint8Array>,
): Promise<Response> {
  const parameters = new URLSearchParams(
    Object.entries(query).map(([name, value]) => [name, String(value)]),
  );
  return await requestDecoder(env, `conversion/${path}?${parameters.toString()}`, {
    method,
    fileId: parameters.get("file"),
    timeoutMs: CONVERSION.timeoutMs,
    ...(body && { body }),
  });
}

/** Throws `upstream_failed` for a piece that is too large, which is tried again. */
async function requireOk(response: Response): Promise<Response> {
  const { status } = response;
  if (status === 200) return response;
  await response.body?.cancel();
  if (status === 413) throw failed("returns too many bytes");
  throw new AppError("upstream_unavailable", `The decoder answered ${status}.`);
}

async function parse<Schema extends z.ZodType>(
  schema: Schema,
  response: Response,
): Promise<z.output<Schema>> {
  const parsed = parseJsonText(await response.bytes(), MAX_VALUES);
  const read = "value" in parsed ? schema.safeParse(parsed.value) : null;
  if (read?.success) return read.data;
  throw failed("doesn't answer as a decoder does");
}

function failed(what: string): AppError {
  return new AppError("upstream_failed", `The decoder ${what}.`);
}
