/**
 * Ends process groups when the process that started this one is gone, however it went: its end of
 * our standard input closes. A line is `+` or `-` and a group's id: hold it, or let it go.
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
