import { setTimeout as wait } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { Queue } from "../../local/engine/queue.ts";

const patient = new AbortController().signal;

describe("a queue", () => {
  it("runs at most so many tasks at once, first come, first served", async () => {
    const queue = new Queue({ running: 2, waiting: 10, timeoutMs: 5_000 });
    const started: number[] = [];
    let [running, most] = [0, 0];
    const task = async (index: number) => {
      started.push(index);
      most = Math.max(most, ++running);
      await wait(5);
      running--;
      return index;
    };
    const indices = [0, 1, 2, 3, 4, 5];
    const results = await Promise.all(
      indices.map((index) => queue.run(() => task(index), patient)),
    );
    expect(results).toEqual(indices);
    expect(started).toEqual(indices);
    expect(most).toBe(2);
  });

  it("refuses with busy when its waiting room is full, and works on", async () => {
    const queue = new Queue({ running: 1, waiting: 1, timeoutMs: 5_000 });
    const first = queue.run(() => wait(20, "first"), patient);
    const second = queue.run(() => wait(1, "second"), patient);
    await expect(queue.run(() => wait(1), patient)).rejects.toMatchObject({ code: "busy" });
    expect(await Promise.all([first, second])).toEqual(["first", "second"]);
    expect(await queue.run(() => wait(1, "third"), patient)).toBe("third");
  });

  it("ends a task whose time is up and frees its place once it has stopped", async () => {
    const queue = new Queue({ running: 1, waiting: 1, timeoutMs: 20 });
    const late = queue.run((signal) => wait(10_000, null, { signal }), patient);
    await expect(late).rejects.toMatchObject({ code: "failed" });
    expect(await queue.run(() => Promise.resolve("next"), patient)).toBe("next");
  });

  it("drops a waiting caller who is gone", async () => {
    const queue = new Queue({ running: 1, waiting: 1, timeoutMs: 5_000 });
    const gone = new AbortController();
    const first = queue.run(() => wait(20, "first"), patient);
    let ran = false;
    const second = queue.run(() => Promise.resolve((ran = true)), gone.signal);
    gone.abort(new Error("gone"));
    await expect(second).rejects.toThrow("gone");
    expect(await queue.run(() => Promise.resolve("third"), patient)).toBe("third");
    expect(await first).toBe("first");
    expect(ran).toBe(false);
  });

  it("passes a task's error on and survives it", async () => {
    const queue = new Queue({ running: 1, waiting: 1, timeoutMs: 5_000 });
    const broken = queue.run(() => Promise.reject(new Error("broken")), patient);
    await expect(broken).rejects.toThrow("broken");
    expect(await queue.run(() => Promise.resolve(1), patient)).toBe(1);
  });
});
