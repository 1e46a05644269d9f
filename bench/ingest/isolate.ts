import { on, once } from "node:events";
import { setTimeout as wait } from "node:timers/promises";
import * as z from "zod";
import { listOpenPorts } from "../../tools/processes.ts";

/** Memory of an isolate in MiB: V8 heap and backing stores. */
export interface IsolateMemory {
  /** Peak of the samples; includes garbage unless `collect` is set. */
  peakMib: number;
  /** At the end, after a garbage collection. */
  retainedMib: number;
}

const MIB = 2 ** 20;
const POLL_MS = 250;
const RESPONSE_MS = 120_000;
const MAX_ATTEMPTS = 10;
const COLLECT = ["HeapProfiler.enable", "HeapProfiler.collectGarbage"];
/** Buffers are freed by a thread of their own, after the collection that found them. */
const COLLECTIONS = 4;
const FREEING_MS = 100;

const InspectorTargets = z.array(z.object({ title: z.string(), webSocketDebuggerUrl: z.url() }));
const HeapUsage = z.object({ usedSize: z.number(), backingStorageSize: z.number() });

/**
 * Samples the memory of a Worker's isolate while `work` runs, through the inspector of the local
 * runtime that this process started. `poke` sends the Worker a request: an idle isolate doesn't
 * collect garbage. `collect` collects garbage before each sample, waits until buffers are freed,
 * and takes the lower one of two samples in a row: a busy isolate makes garbage meanwhile.
 * Linux only. Throws if there is no such isolate, or if the inspector doesn't answer at the end.
 */
export async function monitorIsolate(
  worker: string,
  poke: () => Promise<unknown>,
  work: () => Promise<void>,
  { collect = false } = {},
): Promise<IsolateMemory> {
  const inspector = await findInspector(worker);
  const done = new AbortController();
  const peak = samplePeakMib(inspector, collect, done.signal);
  try {
    await work();
  } finally {
    done.abort();
  }
  const sampledPeak = await peak;
  const retainedMib = await withRetries(() => usedMib(inspector, true, poke));
  return { peakMib: Math.max(retainedMib, sampledPeak), retainedMib };
}

/** Retries: the inspector accepts one client at a time, and Wrangler may be connected. */
async function withRetries<T>(attempt: () => Promise<T>): Promise<T> {
  for (let attempts = 1; ; attempts++) {
    try {
      return await attempt();
    } catch (error) {
      if (attempts === MAX_ATTEMPTS) throw error;
      await wait(POLL_MS);
    }
  }
}

/** Returns the highest sample until `signal` aborts. Failed samples are ignored. */
async function samplePeakMib(
  inspector: string,
  collect: boolean,
  signal: AbortSignal,
): Promise<number> {
  let [peak, previous] = [0, 0];
  while (!signal.aborted) {
    const sample = await usedMib(inspector, collect).catch(() => 0);
    peak = Math.max(peak, collect ? Math.min(previous, sample) : sample);
    previous = sample;
    await wait(POLL_MS);
  }
  return peak;
}

async function usedMib(inspector: string, collect: boolean, poke?: () => Promise<unknown>) {
  const collections = collect ? COLLECTIONS : 0;
  for (let count = 0; count < collections; count++) {
    await sendCommands(inspector, COLLECT, poke);
    await wait(FREEING_MS);
  }
  const usage = HeapUsage.parse(await sendCommands(inspector, ["Runtime.getHeapUsage"]));
  return (usage.usedSize + usage.backingStorageSize) / MIB;
}

async function findInspector(worker: string): Promise<string> {
  for (const port of await listOpenPorts("workerd")) {
    const address = `127.0.0.1:${port}`;
    const listed: unknown = await fetch(`http://${address}/json`, {
      signal: AbortSignal.timeout(RESPONSE_MS),
    })
      .then((response) => response.json())
      .catch(() => null);
    const target = InspectorTargets.safeParse(listed).data?.find(({ title }) =>
      title.endsWith(`:${worker}`),
    );
    if (target) return `ws://${address}${new URL(target.webSocketDebuggerUrl).pathname}`;
  }
  throw new Error(`The local runtime has no Worker ${worker} to inspect.`);
}

/** Sends commands and returns the result of the last one. Source: Chrome DevTools Protocol. */
async function sendCommands(
  inspector: string,
  methods: string[],
  poke: () => Promise<unknown> = async () => undefined,
): Promise<unknown> {
  const socket = new WebSocket(inspector);
  const timer = setInterval(() => void poke().catch(() => undefined), POLL_MS);
  const options = { signal: AbortSignal.timeout(RESPONSE_MS) };
  try {
    await once(socket, "open", options);
    const messages: AsyncIterable<unknown[]> = on(socket, "message", {
      ...options,
      close: ["close"],
    });
    for (const [id, method] of methods.entries()) socket.send(JSON.stringify({ id, method }));
    for await (const [event] of messages) {
      if (!(event instanceof MessageEvent)) continue;
      const { id, result } = InspectorMessage.parse(JSON.parse(String(event.data)));
      if (id === methods.length - 1) return result;
    }
    throw new Error("The inspector was closed.");
  } finally {
    clearInterval(timer);
    socket.close();
  }
}

/** Message of the inspector: a result has an id, an event has none. */
const InspectorMessage = z.object({ id: z.number().optional(), result: z.unknown().optional() });
