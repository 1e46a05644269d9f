/**
 * Ends process groups when the parent process ends, for any reason: its end of stdin closes then.
 * Input lines: `+<group id>` adds a group, `-<group id>` removes one.
 */
import { createInterface } from "node:readline";
import { endGroups } from "./process-group.ts";

const groups = new Set<number>();
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => {});
createInterface({ input: process.stdin })
  .on("line", (line) => {
    const group = Number(line.slice(1));
    if (line.startsWith("+")) groups.add(group);
    else groups.delete(group);
  })
  .on("close", () => void endGroups([...groups]));
