import { setTimeout as wait } from "node:timers/promises";
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
