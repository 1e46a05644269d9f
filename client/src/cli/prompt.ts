import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";

/**
 * Reads a line from the terminal, with the question on stderr. A hidden answer isn't echoed. Throws
 * an `AbortError` on Ctrl-C, and the sentence `otherwise` if stdin isn't a terminal.
 */
export async function promptLine(
  question: string,
  { isHidden = false, otherwise }: { isHidden?: boolean; otherwise: string },
  signal: AbortSignal,
): Promise<string> {
  if (!process.stdin.isTTY) throw new Error(otherwise);
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const output = isHidden ? silent : process.stderr;
  if (isHidden) process.stderr.write(question);
  const reader = createInterface({ input: process.stdin, output, terminal: true });
  const interrupted = new AbortController();
  reader.on("SIGINT", () => interrupted.abort());
  try {
    const either = AbortSignal.any([signal, interrupted.signal]);
    return (await reader.question(isHidden ? "" : question, { signal: either })).trim();
  } finally {
    reader.close();
    if (isHidden) process.stderr.write("\n");
  }
}

/**
 * Asks whether to delete. Throws if the answer isn't yes, and the sentence `otherwise` if stdin
 * isn't a terminal.
 */
export async function confirmDeletion(
  question: string,
  otherwise: string,
  signal: AbortSignal,
): Promise<void> {
  const reply = await promptLine(`${question} [y/N] `, { otherwise }, signal);
  if (!/^y(es)?$/i.test(reply)) throw new Error("Nothing was deleted.");
}
