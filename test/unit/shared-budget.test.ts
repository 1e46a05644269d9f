import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { SharedBudget } from "../../src/shared-budget.ts";

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

/** Starts a call that holds `bytes` until `finish` is called. */
function hold(budget: SharedBudget, bytes: number) {
  const { promise, resolve } = Promise.withResolvers<void>();
  const state = { isRunning: false, finish: resolve };
  const done = budget.run(bytes, () => {
    state.isRunning = true;
    return promise;
  });
  return Object.assign(state, { done });
}

const poll = () => vi.advanceTimersByTimeAsync(20);

it("runs calls at once as long as their bytes fit", async () => {
  const budget = new SharedBudget(100, 1000);
  const [first, second, third] = [hold(budget, 60), hold(budget, 40), hold(budget, 10)];
  await poll();
  expect([first.isRunning, second.isRunning, third.isRunning]).toEqual([true, true, false]);
  expect(budget.free).toBe(0);
});

it("runs a waiting call once the bytes are free", async () => {
  const budget = new SharedBudget(100, 1000);
  const [first, second] = [hold(budget, 60), hold(budget, 50)];
  first.finish();
  await first.done;
  await poll();
  expect(second.isRunning).toBe(true);
});

it("serves a large call before smaller ones that came later", async () => {
  const budget = new SharedBudget(100, 1000);
  const [first, large, small] = [hold(budget, 60), hold(budget, 90), hold(budget, 10)];
  await poll();
  expect([large.isRunning, small.isRunning]).toEqual([false, false]);
  first.finish();
  await poll();
  await poll();
  expect([large.isRunning, small.isRunning]).toEqual([true, true]);
});

it("gives a call of more than the whole budget all of it", async () => {
  const budget = new SharedBudget(100, 1000);
  const call = hold(budget, 500);
  await poll();
  expect(call.isRunning).toBe(true);
  expect(budget.free).toBe(0);
});

it("frees the bytes of a call that fails", async () => {
  const budget = new SharedBudget(100, 1000);
  await expect(budget.run(100, () => Promise.reject(new Error("no")))).rejects.toThrow("no");
  expect(budget.free).toBe(100);
});

it("frees the bytes of a call whose request was cancelled", async () => {
  const budget = new SharedBudget(100, 1000);
  hold(budget, 100); // never ends
  const waiting = hold(budget, 100);
  await vi.advanceTimersByTimeAsync(900);
  expect(waiting.isRunning).toBe(false);
  await vi.advanceTimersByTimeAsync(200);
  expect(waiting.isRunning).toBe(true);
});

it("skips a waiting call whose request was cancelled", async () => {
  const budget = new SharedBudget(100, 60_000);
  const first = hold(budget, 100);
  await poll();
  const cancelled = hold(budget, 100);
  vi.clearAllTimers(); // the cancelled request's timer never fires
  first.finish();
  await first.done;
  vi.setSystemTime(Date.now() + 6000);
  const next = hold(budget, 100);
  await poll();
  expect([cancelled.isRunning, next.isRunning]).toEqual([false, true]);
});

it("serves calls that could not poll for longer than an abandoned one is waited for", async () => {
  const budget = new SharedBudget(100, 60_000);
  const [first, second] = [hold(budget, 100), hold(budget, 60)];
  await vi.advanceTimersByTimeAsync(10);
  const third = hold(budget, 60);
  await vi.advanceTimersByTimeAsync(15); // the third call polls next
  vi.setSystemTime(Date.now() + 10_000); // a computation blocks the isolate
  await poll();
  for (const call of [first, third, second]) {
    await poll();
    await poll();
    expect(call.isRunning).toBe(true);
    call.finish();
    await call.done;
  }
  expect(budget.free).toBe(100);
});
