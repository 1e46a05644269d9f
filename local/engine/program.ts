import { execFile } from "node:child_process";

interface ProgramInput {
  /** Given to its standard input. */
  bytes?: Uint8Array;
  /** Ends the program at once. */
  signal: AbortSignal;
}

/** How a program ended. */
export interface Ended {
  /** Whether it ended by itself and without an error. */
  succeeded: boolean;
  stdout: string;
  stderr: string;
}

const MAX_OUTPUT = 16 * 1024 * 1024;

/** Runs a program, which doesn't outlive this process. Rejects only with the signal's reason. */
export async function runProgram(
  file: string,
  args: readonly string[],
  { bytes, signal }: ProgramInput,
): Promise<Ended> {
  signal.throwIfAborted();
  const { promise, resolve } = Promise.withResolvers<Ended>();
  const options = { signal, killSignal: "SIGKILL", maxBuffer: MAX_OUTPUT } as const;
  const child = execFile(file, args, options, (error, stdout, stderr) =>
    resolve({ succeeded: error === null, stdout, stderr: stderr || (error?.message ?? "") }),
  );
  const kill = () => void child.kill("SIGKILL");
  process.once("exit", kill);
  // A program that ends before it has read everything is told by how it ended.
  child.stdin?.on("error", () => {});
  child.stdin?.end(bytes);
  const ended = await promise;
  process.off("exit", kill);
  signal.throwIfAborted();
  return ended;
}
