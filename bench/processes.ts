import { readdir, readFile } from "node:fs/promises";

/**
 * Resident memory in MiB of the processes that this one has started, and theirs, whose command holds
 * `word`; by process id. Reads /proc: Linux only.
 */
export async function residentMemory(word: string): Promise<Map<number, number>> {
  const children = new Map<number, number[]>();
  for (const name of await readdir("/proc")) {
    const id = Number(name);
    if (!Number.isInteger(id)) continue;
    const stat = await readFile(`/proc/${id}/stat`, "utf8").catch(() => "");
    const parent = Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
    children.set(parent, [...(children.get(parent) ?? []), id]);
  }
  const memory = new Map<number, number>();
  const waiting = [process.pid];
  for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
    waiting.push(...(children.get(id) ?? []));
    const command = await readFile(`/proc/${id}/cmdline`, "utf8").catch(() => "");
    const status = await readFile(`/proc/${id}/status`, "utf8").catch(() => "");
    const kib = /VmRSS:\s+(\d+)/.exec(status)?.[1];
    if (command.includes(word) && kib) memory.set(id, Number(kib) / 1024);
  }
  return memory;
}
