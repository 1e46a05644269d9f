import { stat } from "node:fs/promises";
import { join } from "node:path";
import type { ConversionJob, ConversionResult } from "./conversion-process.ts";
import type { PartRequest } from "./convert-part.ts";
import { EngineError } from "./errors.ts";
import type { MeasuredMedia } from "./measure-media.ts";
import { runProgram } from "./program.ts";

const PROCESS = join(import.meta.dirname, "conversion-process.ts");
/** Wall time of a process, which is killed then. */
const MAX_PROCESS_MS = 8 * 60_000;
const MAX_PIECE_BYTES = 40_000_000;

/** Measures a file in a process of its own. Errors: `undecodable_media`. */
export async function measureInProcess(path: string, signal: AbortSignal): Promise<MeasuredMedia> {
  const measured = await runJob({ kind: "measure", path }, signal);
  if (!measured) throw new Error("The process measured nothing.");
  return measured;
}

/** Writes a piece in a process of its own. Errors: `undecodable_media`, `too_large`. */
export async function convertInProcess(
  path: string,
  target: string,
  request: PartRequest,
  signal: AbortSignal,
): Promise<void> {
  await runJob({ kind: "part", path, target, request }, signal);
  const { size } = await stat(target);
  if (size > MAX_PIECE_BYTES) throw new EngineError("too_large", "The piece has too many bytes.");
}

/** Runs a job. Errors: those of the job, and `failed` for a process that ends without a result. */
async function runJob(job: ConversionJob, caller: AbortSignal): Promise<MeasuredMedia | null> {
  const limit = AbortSignal.timeout(MAX_PROCESS_MS);
  const args = ["--max-old-space-size=512", PROCESS, JSON.stringify(job)];
  const signal = AbortSignal.any([caller, limit]);
  const ended = await runProgram(process.execPath, args, { signal }).catch((cause: unknown) => {
    caller.throwIfAborted();
    throw new EngineError("failed", "The conversion took too long.", { cause });
  });
  if (!ended.succeeded || ended.stdout === "") {
    console.error(ended.stderr);
    throw new EngineError("failed", "The file ends the converter, or somebody did.");
  }
  const result: ConversionResult = JSON.parse(ended.stdout);
  if ("measured" in result) return result.measured;
  throw new EngineError(result.error.code, result.error.message);
}
