import { createInterface } from "node:readline/promises";
import { sanitizeText } from "../tools/terminal.ts";

/** An invalid command line; the usage is printed with it. */
export class UsageError extends Error {}

/** Reads a part of the command line. Throws what `read` throws as a `UsageError`. */
export function withUsageErrors<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

/**
 * Asks on the terminal. Throws if there is none: then `--yes` confirms. Ctrl-C interrupts the
 * process, as it does without a question.
 */
export async function confirm(question: string, signal?: AbortSignal): Promise<boolean> {
  if (!process.stdin.isTTY) {
    throw new Error("Nothing was changed. Without a terminal to ask on, --yes confirms the plan.");
  }
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  terminal.on("SIGINT", () => process.kill(process.pid, "SIGINT"));
  try {
    const answer = await terminal.question(`${question} [y/N] `, signal ? { signal } : {});
    return /^y(es)?$/i.test(answer.trim());
  } finally {
    terminal.close();
  }
}

/** Runs a command. Prints its error, and exits with 2 if the command line is invalid, else 1. */
export async function runCommand(main: () => Promise<void>, usage: string): Promise<void> {
  try {
    await main();
  } catch (error) {
    const message = sanitizeText(error instanceof Error ? error.message : String(error));
    const isUsage = error instanceof UsageError;
    process.stderr.write(isUsage ? `${message}\n\n${usage}` : `${message}\n`);
    process.exitCode = isUsage ? 2 : 1;
  }
}
