import { readdir, readFile, readlink } from "node:fs/promises";

/**
 * Resident memory in MiB, now or at most so far, of the processes that this one has started, and theirs,
 * whose command holds `word`; by process id. Reads /proc: Linux only.
 */
export async function residentMemory(
  word: string,
  when: "now" | "at most" = "now",
): Promise<Map<number, number>> {
  const line = when === "now" ? /VmRSS:\s+(\d+)/ : /VmHWM:\s+(\d+)/;
  const memory = new Map<number, number>();
  for (const id of await listStarted(word)) {
    const status = await readFile(`/proc/${id}/status`, "utf8").catch(() => "");
    const kib = line.exec(status)?.[1];
    if (kib) memory.set(id, Number(kib) / 1024);
  }
  return memory;
}

/** Seconds for which processors have worked so far for the processes that `residentMemory` would tell of. */
export async function processorSeconds(word: string): Promise<number> {
  let ticks = 0;
  for (const id of await listStarted(word)) {
    const stat = await readFile(`/proc/${id}/stat`, "utf8").catch(() => "");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    ticks += Number(fields[USER_TIME] ?? 0) + Number(fields[SYSTEM_TIME] ?? 0);
  }
  return ticks / TICKS;
}

/** Of what follows the command in /proc/<id>/stat (proc_pid_stat(5)), in ticks: a hundred a second on Linux. */
const [USER_TIME, SYSTEM_TIME, TICKS] = [11, 12, 100];

/** The ports of 127.0.0.1 at which the processes listen that `residentMemory` would tell of. */
export async function listeningPorts(word: string): Promise<number[]> {
  const ports: number[] = [];
  for (const id of await listStarted(word)) {
    const table = await readFile(`/proc/${id}/net/tcp`, "utf8").catch(() => "");
    const own = await listSockets(id);
    for (const line of table.split("\n").slice(1)) {
      const fields = line.trim().split(/\s+/);
      const port = fields[LOCAL]?.split(":")[1];
      if (port && fields[STATE] === LISTENING && own.has(fields[INODE]!)) {
        ports.push(Number.parseInt(port, 16));
      }
    }
  }
  return ports;
}

/** Columns of /proc/<id>/net/tcp (proc_pid_net(5)). */
const [LOCAL, STATE, INODE] = [1, 3, 9];
const LISTENING = "0A";

/** Inodes of the sockets that a process has open. */
async function listSockets(id: number): Promise<Set<string>> {
  const folder = `/proc/${id}/fd`;
  const names = await readdir(folder).catch(() => []);
  const links = names.map((name) => readlink(`${folder}/${name}`).catch(() => ""));
  const inodes = (await Promise.all(links)).map((link) => /^socket:\[(\d+)\]$/.exec(link)?.[1]);
  return new Set(inodes.filter((inode) => inode !== undefined));
}

async function listStarted(word: string): Promise<number[]> {
  const children = new Map<number, number[]>();
  for (const name of await readdir("/proc")) {
    const id = Number(name);
    if (!Number.isInteger(id)) continue;
    const stat = await readFile(`/proc/${id}/stat`, "utf8").catch(() => "");
    const parent = Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
    children.set(parent, [...(children.get(parent) ?? []), id]);
  }
  const found: number[] = [];
  const waiting = [process.pid];
  for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
    waiting.push(...(children.get(id) ?? []));
    const command = await readFile(`/proc/${id}/cmdline`, "utf8").catch(() => "");
    if (command.includes(word)) found.push(id);
  }
  return found;
}
