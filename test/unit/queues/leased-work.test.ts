import { describe, expect, it } from "vitest";
import { AppError } from "../../../src/errors.ts";
import { type LeasedWork, runLeased } from "../../../src/queues/leased-work.ts";

const OUTAGE = new AppError("upstream_unavailable", "The model is unavailable.");
const REJECTION = new AppError("bad_request", "The request is malformed.");

/** Runs a message's work and returns the calls that its message and its owner get, in order. */
async function callsOf(overrides: Partial<LeasedWork<string>>, attempts = 1) {
  const calls: [name: string, ...args: unknown[]][] = [];
  const message = {
    attempts,
    ack: () => calls.push(["ack"]),
    retry: (options: object) => calls.push(["retry", options]),
  } as unknown as Message;
  const work: LeasedWork<string> = {
    claim: async () => true,
    renew: async () => undefined,
    renewMs: 1000,
    run: async () => "done",
    logFailure: () => calls.push(["log"]),
    release: async ({ code }, dueAt, isDeferred) => {
      const seconds = Math.round((dueAt - Date.now()) / 1000);
      calls.push([isDeferred ? "defer" : "release", code, seconds]);
    },
    fail: async ({ code }) => {
      calls.push(["fail", code]);
      return "failed";
    },
    settle: async (outcome) => void calls.push(["settle", outcome]),
    ...overrides,
  };
  const error = await runLeased(message, work).catch((cause: unknown) => cause);
  return { calls, error };
}

const failWith = (failure: Error) => ({
  run: async () => {
    throw failure;
  },
});

describe("leased work", () => {
  it("that can't be claimed is acknowledged and not run", async () => {
    const { calls } = await callsOf({ claim: async () => false, ...failWith(OUTAGE) });
    expect(calls).toEqual([["ack"]]);
  });

  it("that succeeds is settled, then acknowledged", async () => {
    expect((await callsOf({})).calls).toEqual([["settle", "done"], ["ack"]]);
  });

  it("that fails for good is recorded, settled and acknowledged", async () => {
    const { calls } = await callsOf(failWith(REJECTION));
    expect(calls).toEqual([["log"], ["fail", "bad_request"], ["settle", "failed"], ["ack"]]);
  });

  it.each([
    [1, 5],
    [2, 10],
    [4, 40],
    [9, 300],
  ])("that fails in attempt %i is released and retried after %i s", async (attempt, seconds) => {
    const { calls } = await callsOf(failWith(OUTAGE), attempt);
    expect(calls).toEqual([
      ["log"],
      ["release", "upstream_unavailable", 2 * seconds],
      ["retry", { delaySeconds: seconds }],
    ]);
  });

  it("is retried no sooner than the upstream asks for", async () => {
    const busy = new AppError("rate_limited", "Too many requests.", { retryAfter: 60 });
    const { calls } = await callsOf(failWith(busy));
    expect(calls.at(-1)).toEqual(["retry", { delaySeconds: 60 }]);
  });

  it.each([
    [75, 75],
    [86_400, 900],
  ])(
    "that meets a limit for %i s is acknowledged and due again in %i s, in the 50th delivery too",
    async (retryAfter, seconds) => {
      const limit = new AppError("upstream_unavailable", "The limit is reached.", { retryAfter });
      const { calls } = await callsOf(failWith(limit), 50);
      expect(calls).toEqual([["log"], ["defer", "upstream_unavailable", seconds], ["ack"]]);
    },
  );

  it("whose cleanup fails stays in the queue", async () => {
    const cause = new Error("D1 is unavailable");
    const { calls, error } = await callsOf({ settle: () => Promise.reject(cause) });
    expect({ calls, error }).toEqual({ calls: [], error: cause });
  });
});
