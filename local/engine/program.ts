import { execFile } from "node:child_process";

interface ProgramInput {
  /** Written to standard input. */
  bytes?: Uint8Array;
  /** Kills the program. */
  signal: AbortSignal;
}

/** Outcome of a program. */
export interface Ended {
  /** True if the program exited by itself with code 0. */
  succeeded: boolean;
  stdout: string;
  stderr: string;
}

const MAX_OUTPUT_BYTES = 16 * 1024 * 1024;

/** Runs a program; it is killed when this process exits. Rejects only with the signal's reason. */
export async function runProgram(
  file: string,
  args: readonly string[],
  { bytes, signal }: ProgramInput,
): Promise<Ended> {
  signal.throwIfAborted();
  const { promise, resolve } = Promise.withResolvers<Ended>();
  const options = { signal, killSignal: "SIGKILL", maxBuffer: MAX_OUTPUT_BYTES } as const;
  const child = execFile(file, args, options, (error, stdout, stderr) =>
    resolve({ succeeded: error === null, stdout, stderr: stderr || (error?.message ?? "") }),
  );
  const kill = () => void child.kill("SIGKILL");
  process.once("exit", kill);
  // EPIPE is ignored: a program that exits early is reported by its exit code.
  child.stdin?.on("error", () => {});
  child.stdin?.end(bytes);
  const ended = await promise;
  process.off("exit", kill);
  signal.throwIfAborted();
  return ended;
}
