import { on, once } from "node:events";
import { setTimeout as wait } from "node:timers/promises";
import { z } from "zod";
import { listeningPorts } from "../processes.ts";

/** What an isolate has, in MiB: its heap and the buffers beside it. */
export interface IsolateMemory {
  /** At most, by looking twice a second, with what isn't needed any more. */
  most: number;
  /** In the end, after a collection. */
  held: number;
}

const MIB = 2 ** 20;
const LOOK_MS = 500;
const ANSWER_MS = 10_000;
const TRIES = 10;

const Targets = z.array(z.object({ title: z.string(), webSocketDebuggerUrl: z.url() }));
const Usage = z.object({ usedSize: z.number(), backingStorageSize: z.number() });

/**
 * Watches what the isolate of a Worker has while `work` goes on, by the inspector of the local runtime that this
 * process has started; `poke` has the Worker do something, without which it doesn't collect. Linux only. Throws
 * where there is no such isolate, or it can't be asked in the end.
 */
export async function watchIsolate(
  worker: string,
  poke: () => Promise<unknown>,
  work: () => Promise<void>,
): Promise<IsolateMemory> {
  const inspector = await findInspector(worker);
  const over = new AbortController();
  const most = watch(inspector, over.signal);
  try {
    await work();
  } finally {
    over.abort();
  }
  const before = await most;
  const collect = ["HeapProfiler.enable", "HeapProfiler.collectGarbage"];
  await insist(() => ask(inspector, collect, poke));
  const held = await insist(() => usedMib(inspector));
  return { most: Math.max(held, before), held };
}

/** Asks again: the runtime hears one at a time, and Wrangler may be the other. */
async function insist<T>(look: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await look();
    } catch (error) {
      if (tries === TRIES) throw error;
      await wait(LOOK_MS);
    }
  }
}

/** A look that fails is left out. */
async function watch(inspector: string, signal: AbortSignal): Promise<number> {
  let most = 0;
  while (!signal.aborted) {
    most = Math.max(most, await usedMib(inspector).catch(() => 0));
    await wait(LOOK_MS);
  }
  return most;
}

async function usedMib(inspector: string): Promise<number> {
  const usage = Usage.parse(await ask(inspector, ["Runtime.getHeapUsage"]));
  return (usage.usedSize + usage.backingStorageSize) / MIB;
}

async function findInspector(worker: string): Promise<string> {
  for (const port of await listeningPorts("workerd")) {
    const address = `127.0.0.1:${port}`;
    const listed: unknown = await fetch(`http://${address}/json`, {
      signal: AbortSignal.timeout(ANSWER_MS),
    })
      .then((response) => response.json())
      .catch(() => null);
    const own = Targets.safeParse(listed).data?.find(({ title }) => title.endsWith(`:${worker}`));
    if (own) return `ws://${address}${new URL(own.webSocketDebuggerUrl).pathname}`;
  }
  throw new Error(`The local runtime has no Worker ${worker} to inspect.`);
}

/** What the isolate answers to the last of some commands. Source: Chrome DevTools Protocol. */
async function ask(
  inspector: string,
  methods: string[],
  poke: () => Promise<unknown> = async () => undefined,
): Promise<unknown> {
  const socket = new WebSocket(inspector);
  const pokes = setInterval(() => void poke().catch(() => undefined), LOOK_MS);
  const options = { signal: AbortSignal.timeout(ANSWER_MS) };
  try {
    await once(socket, "open", options);
    const answers: AsyncIterable<unknown[]> = on(socket, "message", {
      ...options,
      close: ["close"],
    });
    for (const [id, method] of methods.entries()) socket.send(JSON.stringify({ id, method }));
    for await (const [event] of answers) {
      if (!(event instanceof MessageEvent)) continue;
      const { id, result } = Answer.parse(JSON.parse(String(event.data)));
      if (id === methods.length - 1) return result;
    }
    throw new Error("The inspector was closed.");
  } finally {
    clearInterval(pokes);
    socket.close();
  }
}

/** Events have no id. */
const Answer = z.object({ id: z.number().optional(), result: z.unknown().optional() });
