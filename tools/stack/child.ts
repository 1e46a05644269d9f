import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, createWriteStream, openSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { PROJECT } from "./local-state.ts";
import { endGroups } from "./process-group.ts";

const TAIL_LINES = 20;

export interface ChildOptions {
  /** Name for messages. */
  name: string;
  /** Script and arguments, run by the Node of this process. */
  args: string[];
  env: Record<string, string>;
  /** Path of the log of its output; each start truncates it. */
  logFile: string;
  onLine?: (line: string) => void;
}

export interface Child {
  readonly name: string;
  readonly group: number;
  /** Resolves when it has ended, with the reason as a sentence and the end of its log. */
  readonly ended: Promise<string>;
  /** Returns whether it exited by itself with code 0. */
  succeeded(): boolean;
}

/** Starts a Node script in its own process group. */
export function startChild({ name, args, env, logFile, onLine }: ChildOptions): Child {
  const child = spawn(process.execPath, args, {
    cwd: PROJECT,
    detached: true,
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const log = createWriteStream(logFile, { mode: 0o600 });
  const tail: string[] = [];
  const read = [child.stdout, child.stderr].map((output) => {
    const lines = createInterface({ input: output });
    lines.on("line", (line) => {
      log.write(`${line}\n`);
      if (tail.push(line) > TAIL_LINES) tail.shift();
      onLine?.(line);
    });
    return once(lines, "close");
  });
  const ended = describeExit(child).then(async (reason) => {
    await Promise.all(read);
    log.end();
    return [`${name} ${reason}. The end of its log (${logFile}):`, ...tail].join("\n  ");
  });
  return {
    name,
    group: child.pid ?? 0,
    ended,
    succeeded: () => child.exitCode === 0,
  };
}

async function describeExit(child: ChildProcess): Promise<string> {
  try {
    const [code, signal]: (number | string | null)[] = await once(child, "exit");
    return signal ? `was ended by ${signal}` : `stopped with code ${code}`;
  } catch (error) {
    return `could not be started: ${error instanceof Error ? error.message : String(error)}`;
  }
}

/** Ends its children when this process ends, for any reason. */
export class ProcessSupervisor {
  readonly #groups = new Set<number>();
  readonly #reaper = spawn(process.execPath, [join(import.meta.dirname, "reaper.ts")], {
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
  });

  constructor() {
    // Without a reaper, `end` still works.
    for (const part of [this.#reaper, this.#reaper.stdin]) part.on("error", () => {});
  }

  /** Ends `child` and its descendants together with this process. */
  supervise(child: Child): Child {
    this.#groups.add(child.group);
    this.#reaper.stdin.write(`+${child.group}\n`);
    void this.#release(child);
    return child;
  }

  /** Ends all children; resolves when no process is left. */
  async stopAll(): Promise<void> {
    await endGroups([...this.#groups]);
    this.#reaper.stdin.end();
  }

  /** Ends processes that a child left behind, then removes its group, whose id may be reused. */
  async #release(child: Child): Promise<void> {
    await child.ended;
    await endGroups([child.group]);
    this.#groups.delete(child.group);
    if (this.#reaper.stdin.writable) this.#reaper.stdin.write(`-${child.group}\n`);
  }
}

/** Starts a script that outlives this process; its output goes to `logFile`. */
export function startDetached(args: string[], logFile: string): ChildProcess {
  const log = openSync(logFile, "w", 0o600);
  const child = spawn(process.execPath, args, {
    cwd: PROJECT,
    detached: true,
    stdio: ["ignore", log, log],
  });
  closeSync(log);
  child.unref();
  return child;
}
