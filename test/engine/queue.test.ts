import { setImmediate, setTimeout as wait } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { Queue } from "../../local/engine/queue.ts";

const neverAborted = new AbortController().signal;

describe("a queue", () => {
  it("runs tasks in order of arrival, up to its concurrency", async () => {
    const queue = new Queue({ concurrency: 2, maxWaiting: 10, timeoutMs: 5_000 });
    const started: number[] = [];
    let [running, maxRunning] = [0, 0];
    const task = async (index: number) => {
      started.push(index);
      maxRunning = Math.max(maxRunning, ++running);
      await wait(5);
      running--;
      return index;
    };
    const indices = [0, 1, 2, 3, 4, 5];
    const results = await Promise.all(
      indices.map((index) => queue.run(() => task(index), neverAborted)),
    );
    expect(results).toEqual(indices);
    expect(started).toEqual(indices);
    expect(maxRunning).toBe(2);
  });

  it("rejects with busy when it is full, and keeps working", async () => {
    const queue = new Queue({ concurrency: 1, maxWaiting: 1, timeoutMs: 5_000 });
    const first = queue.run(() => wait(20, "first"), neverAborted);
    const second = queue.run(() => wait(1, "second"), neverAborted);
    await expect(queue.run(() => wait(1), neverAborted)).rejects.toMatchObject({ code: "busy" });
    expect(await Promise.all([first, second])).toEqual(["first", "second"]);
    expect(await queue.run(() => wait(1, "third"), neverAborted)).toBe("third");
  });

  it("aborts a task at its time limit and frees its slot when it has stopped", async () => {
    const queue = new Queue({ concurrency: 1, maxWaiting: 1, timeoutMs: 20 });
    const overdue = queue.run((signal) => wait(10_000, null, { signal }), neverAborted);
    await expect(overdue).rejects.toMatchObject({ code: "failed" });
    expect(await queue.run(() => Promise.resolve("next"), neverAborted)).toBe("next");
  });

  it("drops a waiting task whose caller has disconnected", async () => {
    const queue = new Queue({ concurrency: 1, maxWaiting: 1, timeoutMs: 5_000 });
    const caller = new AbortController();
    const first = queue.run(() => wait(20, "first"), neverAborted);
    let hasRun = false;
    const second = queue.run(() => Promise.resolve((hasRun = true)), caller.signal);
    caller.abort(new Error("disconnected"));
    await expect(second).rejects.toThrow("disconnected");
    expect(await queue.run(() => Promise.resolve("third"), neverAborted)).toBe("third");
    expect(await first).toBe("first");
    expect(hasRun).toBe(false);
  });

  it("passes a task's error on and keeps working", async () => {
    const queue = new Queue({ concurrency: 1, maxWaiting: 1, timeoutMs: 5_000 });
    const broken = queue.run(() => Promise.reject(new Error("broken")), neverAborted);
    await expect(broken).rejects.toThrow("broken");
    expect(await queue.run(() => Promise.resolve(1), neverAborted)).toBe(1);
  });
});

describe("accounts in a queue", () => {
  /** Runs tasks of accounts, one at a time each way, and returns the order in which they began. */
  async function orderOf(
    arrivals: string[],
    limits: { concurrency: number; reserve?: number; maxWaiting?: number },
  ): Promise<{ begun: string[]; end: () => Promise<void>; refused: string[] }> {
    const queue = new Queue({ maxWaiting: 100, timeoutMs: 60_000, ...limits });
    const [begun, refused]: [string[], string[]] = [[], []];
    const running: (() => void)[] = [];
    for (const name of arrivals) {
      const task = () => {
        begun.push(name);
        return new Promise<void>((resolve) => running.push(resolve));
      };
      void queue.run(task, neverAborted, name[0]).catch(() => refused.push(name));
    }
    await setImmediate();
    const end = async () => {
      running.shift()?.();
      await setImmediate();
    };
    return { begun, end, refused };
  }

  it.each<[string, string[], { concurrency: number; reserve?: number }, string[]]>([
    [
      "take turns, whatever the number of their tasks",
      ["a1", "a2", "a3", "a4", "b1", "b2", "c1"],
      { concurrency: 1 },
      ["a1", "b1", "c1", "a2", "b2", "a3", "a4"],
    ],
    [
      "begin in their order of arrival if each has one",
      ["c1", "a1", "b1"],
      { concurrency: 1 },
      ["c1", "a1", "b1"],
    ],
    [
      "of which none runs begin in the reserve",
      ["a1", "a2", "a3", "b1", "b2"],
      { concurrency: 2, reserve: 1 },
      ["a1", "a2", "b1", "a3", "b2"],
    ],
  ])("%s", async (_, arrivals, limits, expected) => {
    const { begun, end } = await orderOf(arrivals, limits);
    for (let i = 0; i < arrivals.length; i++) await end();
    expect(begun).toEqual(expected);
  });

  it("don't wait for the long tasks of one account", async () => {
    const { begun } = await orderOf(["a1", "a2", "a3", "b1"], { concurrency: 2, reserve: 1 });
    expect(begun).toEqual(["a1", "a2", "b1"]);
  });

  it("don't fill the queue for others", async () => {
    const arrivals = ["a1", "a2", "a3", "a4", "b1", "b2", "a5"];
    const { begun, end, refused } = await orderOf(arrivals, { concurrency: 1, maxWaiting: 3 });
    expect(refused.toSorted()).toEqual(["a4", "a5", "b2"]);
    for (let i = 0; i < arrivals.length; i++) await end();
    expect(begun).toEqual(["a1", "b1", "a2", "a3"]);
  });
});
