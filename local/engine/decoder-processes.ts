import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type {
  TaskMessage,
  TaskName,
  TaskReply,
  TaskRequest,
  TaskValue,
} from "./decoder-process.ts";
import { EngineError } from "./errors.ts";
import { runProgram } from "./program.ts";
import type { WorkFolder } from "./work-folder.ts";

const PROCESS = join(import.meta.dirname, "decoder-process.ts");
/**
 * Memory that a process may write to, in KiB: 0.7 GB that Node.js and the libraries reserve, and
 * what a file takes. macOS takes no notice of it.
 */
const MAX_DATA_KIB = 1_800_000;
/** Blocks of 512 bytes of a file that a process writes. */
const MAX_FILE_BLOCKS = 512 * 1024;
/** Resident memory at which a process is killed, where the system holds no other limit. */
const MAX_RESIDENT_BYTES = 1_250_000_000;
const MEMORY_CHECK_MS = 250;
/** A process that has grown to this is replaced after its task: some decoders leak. */
const RETIRED_BYTES = 400_000_000;
/** Idle processes, which save the next tasks the start of one. One is there after each task. */
const MAX_IDLE = 2;

/** What a task was for, and what becomes of it. */
interface TaskLimits {
  /** Ends the process. */
  signal: AbortSignal;
  /** Wall time for both tries, after which the process is killed. */
  deadlineMs: number;
}

/**
 * Processes that decode files, so that no file takes the memory, the time or the life of the
 * server. Each has one task at a time.
 */
export class DecoderProcesses {
  readonly #folder: WorkFolder;
  readonly #running = new Set<ChildProcess>();
  readonly #idle = new Set<ChildProcess>();

  constructor(folder: WorkFolder) {
    this.#folder = folder;
    process.on("exit", () => this.close());
  }

  /** Ends all processes. */
  close(): void {
    for (const child of this.#running) child.kill("SIGKILL");
  }

  /**
   * Runs a task on a file, and returns its value and the bytes that it wrote. If the process dies
   * or fails, the task is tried once more in a new one: other files may have worn the first.
   * Errors: those of the task, `too_complex` if both fail, `deadline_exceeded`, and the signal's
   * reason.
   */
  async run<Name extends TaskName>(
    name: Name,
    path: string,
    request: TaskRequest<Name>,
    { signal, deadlineMs }: TaskLimits,
  ): Promise<{ value: TaskValue<Name>; bytes: Buffer<ArrayBuffer> }> {
    const deadline = AbortSignal.timeout(deadlineMs);
    const end = AbortSignal.any([signal, deadline]);
    return this.#folder.withFile(async (target) => {
      const message: TaskMessage = { name, path, target, request };
      const [idle] = this.#idle;
      const first = await this.#try(message, end, idle ?? this.#start());
      const reply = first ?? (end.aborted ? null : await this.#try(message, end, this.#start()));
      if (this.#idle.size === 0) this.#idle.add(this.#start());
      signal.throwIfAborted();
      if (deadline.aborted) {
        const seconds = deadlineMs / 1000;
        throw new EngineError("deadline_exceeded", `The file takes more than ${seconds} seconds.`);
      }
      if (!reply) {
        throw new EngineError(
          "too_complex",
          "The file takes too much memory, or ends its decoder.",
        );
      }
      const { result } = reply;
      if ("error" in result) throw new EngineError(result.error.code, result.error.message);
      const bytes = existsSync(target) ? await readFile(target) : Buffer.alloc(0);
      return { value: result.value as TaskValue<Name>, bytes };
    });
  }

  /** Returns the reply; null if the process failed or died, also because `end` aborted. */
  async #try(
    message: TaskMessage,
    end: AbortSignal,
    child: ChildProcess,
  ): Promise<TaskReply | null> {
    this.#idle.delete(child);
    const kill = () => void child.kill("SIGKILL");
    const watch = setInterval(() => void killIfLarge(child), MEMORY_CHECK_MS);
    end.addEventListener("abort", kill);
    if (end.aborted) kill();
    try {
      const answer = await replyOf(child, message);
      const reply = answer && hasFailed(answer) ? null : answer;
      const isReusable = reply?.isIntact && reply.residentBytes < RETIRED_BYTES && !end.aborted;
      if (isReusable && this.#idle.size < MAX_IDLE) this.#idle.add(child);
      else kill();
      return reply;
    } finally {
      clearInterval(watch);
      end.removeEventListener("abort", kill);
    }
  }

  /** Starts a process, whose limits a shell sets: Node.js can't. */
  #start(): ChildProcess {
    const limits = `ulimit -d ${MAX_DATA_KIB}; ulimit -f ${MAX_FILE_BLOCKS}; ulimit -c 0`;
    const program = [process.execPath, "--max-old-space-size=512", PROCESS];
    const child = spawn("/bin/sh", ["-c", `${limits}; exec "$0" "$@"`, ...program], {
      stdio: ["ignore", "ignore", "inherit", "ipc"],
      serialization: "advanced",
    });
    this.#running.add(child);
    child.once("exit", () => {
      this.#running.delete(child);
      this.#idle.delete(child);
    });
    child.on("error", console.error);
    return child;
  }
}

/** Sends a message and waits for the reply: null if the process ends before. */
async function replyOf(child: ChildProcess, message: TaskMessage): Promise<TaskReply | null> {
  const { promise, resolve } = Promise.withResolvers<TaskReply | null>();
  const end = () => resolve(null);
  child.once("message", resolve);
  child.once("exit", end);
  child.once("error", end);
  if (child.exitCode !== null || child.signalCode !== null) end();
  else child.send(message, () => {}); // its end says why it failed
  const reply = await promise;
  child.off("message", resolve);
  child.off("exit", end);
  child.off("error", end);
  return reply;
}

function hasFailed({ result }: TaskReply): boolean {
  return "error" in result && result.error.code === "failed";
}

async function killIfLarge(child: ChildProcess): Promise<void> {
  if ((await residentBytes(child)) > MAX_RESIDENT_BYTES) child.kill("SIGKILL");
}

/** Returns the resident memory of a process: 0 if it can't be read. */
async function residentBytes({ pid }: ChildProcess): Promise<number> {
  if (process.platform === "linux") {
    try {
      const [, kib = 0] =
        /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
      return Number(kib) * 1024;
    } catch {
      return 0; // it has ended
    }
  }
  const signal = AbortSignal.timeout(10 * MEMORY_CHECK_MS);
  const args = ["-o", "rss=", "-p", String(pid)];
  try {
    const { stdout } = await runProgram("ps", args, { signal });
    return Number(stdout.trim()) * 1024;
  } catch {
    return 0; // the next check reads it
  }
}
