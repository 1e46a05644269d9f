import { type PartRequest, writePart } from "./convert-part.ts";
import { type EngineError, toEngineError } from "./errors.ts";
import { type MeasuredMedia, measureMedia } from "./measure-media.ts";

/** What the process does with the file at `path`. */
export type ConversionJob =
  | { kind: "measure"; path: string }
  | { kind: "part"; path: string; target: string; request: PartRequest };

/** What the process writes to its standard output. */
export type ConversionResult =
  | { measured: MeasuredMedia | null }
  | { error: Pick<EngineError, "code" | "message"> };

/** `conversion-process.ts JOB` runs a job and writes its result, both JSON. */
const job: ConversionJob = JSON.parse(process.argv[2] ?? "");

async function run(): Promise<ConversionResult> {
  try {
    if (job.kind === "measure") return { measured: await measureMedia(job.path) };
    await writePart(job.path, job.target, job.request);
    return { measured: null };
  } catch (cause) {
    const { code, message } = toEngineError(cause);
    return { error: { code, message } };
  }
}

process.stdout.write(JSON.stringify(await run()));
