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
