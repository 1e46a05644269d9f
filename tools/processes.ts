import { readdir, readFile, readlink } from "node:fs/promises";

/** Values of a process that has ended: its files are gone. */
const emptyIfEnded = () => "";
const noneIfEnded = (): string[] => [];

/**
 * Returns the resident memory in MiB, current or peak, by process id, of the descendants of this
 * process whose command line contains `word`. Reads /proc: Linux only.
 */
export async function measureResidentMib(
  word: string,
  value: "current" | "peak" = "current",
): Promise<Map<number, number>> {
  const line = value === "current" ? /VmRSS:\s+(\d+)/ : /VmHWM:\s+(\d+)/;
  const memory = new Map<number, number>();
  for (const id of await listDescendants(word)) {
    const status = await readFile(`/proc/${id}/status`, "utf8").catch(emptyIfEnded);
    const kib = line.exec(status)?.[1];
    if (kib) memory.set(id, Number(kib) / 1024);
  }
  return memory;
}

/** Returns the CPU seconds used so far by the descendants whose command line contains `word`. */
export async function measureCpuSeconds(word: string): Promise<number> {
  let ticks = 0;
  for (const id of await listDescendants(word)) {
    const stat = await readFile(`/proc/${id}/stat`, "utf8").catch(emptyIfEnded);
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    ticks += Number(fields[USER_TIME] ?? 0) + Number(fields[SYSTEM_TIME] ?? 0);
  }
  return ticks / TICKS_PER_SECOND;
}

/**
 * Fields after the command in /proc/<id>/stat (proc_pid_stat(5)), and ticks per second on Linux.
 */
const [USER_TIME, SYSTEM_TIME, TICKS_PER_SECOND] = [11, 12, 100];

/**
 * Lists the ports of 127.0.0.1 on which the descendants whose command line contains `word` listen.
 */
export async function listOpenPorts(word: string): Promise<number[]> {
  const ports: number[] = [];
  for (const id of await listDescendants(word)) {
    const table = await readFile(`/proc/${id}/net/tcp`, "utf8").catch(emptyIfEnded);
    const socketInodes = await listSockets(id);
    for (const line of table.split("\n").slice(1)) {
      const fields = line.trim().split(/\s+/);
      const port = fields[LOCAL]?.split(":")[1];
      if (port && fields[STATE] === LISTEN && socketInodes.has(fields[INODE]!)) {
        ports.push(Number.parseInt(port, 16));
      }
    }
  }
  return ports;
}

/** Columns and state of a listening socket in /proc/<id>/net/tcp (proc_pid_net(5)). */
const [LOCAL, STATE, INODE] = [1, 3, 9];
const LISTEN = "0A";

/** Lists the inodes of the sockets that a process has open. */
async function listSockets(id: number): Promise<Set<string>> {
  const folder = `/proc/${id}/fd`;
  const names = await readdir(folder).catch(noneIfEnded);
  const links = names.map((name) => readlink(`${folder}/${name}`).catch(emptyIfEnded));
  const inodes = (await Promise.all(links)).map((link) => /^socket:\[(\d+)\]$/.exec(link)?.[1]);
  return new Set(inodes.filter((inode) => inode !== undefined));
}

/** Lists this process and its descendants whose command line contains `word`. */
async function listDescendants(word: string): Promise<number[]> {
  const children = new Map<number, number[]>();
  for (const name of await readdir("/proc")) {
    const id = Number(name);
    if (!Number.isInteger(id)) continue;
    const stat = await readFile(`/proc/${id}/stat`, "utf8").catch(emptyIfEnded);
    const parent = Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
    children.set(parent, [...(children.get(parent) ?? []), id]);
  }
  const matching: number[] = [];
  const queue = [process.pid];
  for (let id = queue.pop(); id !== undefined; id = queue.pop()) {
    queue.push(...(children.get(id) ?? []));
    const command = await readFile(`/proc/${id}/cmdline`, "utf8").catch(emptyIfEnded);
    if (command.includes(word)) matching.push(id);
  }
  return matching;
}
