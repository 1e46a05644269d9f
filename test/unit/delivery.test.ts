import { describe, expect, it } from "vitest";
import { WEBHOOKS } from "../../src/config.ts";
import { begin, claim, nextTry, overdue, settle } from "../../src/durable/delivery.ts";
import type { Delivery } from "../../src/types.ts";

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const fresh = begin({ seq: 1, type: "asset.updated", payload: "{}" }, 0);
const refused = { status: 500, problem: "The receiver answered 500." };

describe("when a delivery that failed is tried again", () => {
  it.each([
    [1, 5 * SECOND],
    [2, 5 * MINUTE],
    [3, 30 * MINUTE],
    [4, 2 * HOUR],
    [5, 5 * HOUR],
    [6, 10 * HOUR],
    [7, 4 * HOUR],
    [8, null],
  ])("after %i attempts", (attempts, delay) => {
    expect(nextTry({ attempts, createdAt: 0 }, 0, 0, 0)).toBe(delay);
  });

  it("goes by what the receiver asks for, and a little by chance, within a day", () => {
    const once = { attempts: 1, createdAt: 0 };
    expect(nextTry(once, 0, 1, 0)).toBe(5500);
    expect(nextTry(once, 0, 0, HOUR)).toBe(HOUR);
    expect(nextTry(once, 0, 0, 48 * HOUR)).toBe(24 * HOUR);
    expect(nextTry(once, 24 * HOUR, 0, 0)).toBeNull();
  });

  it("is over in a day, whatever chance does", () => {
    for (const chance of [0, 1]) {
      let [one, now] = [fresh, 0];
      while (one.dueAt !== null) {
        one = settle(claim(overdue(one, now, chance), now)!, refused, now, chance)!;
        now = one.dueAt ?? now;
      }
      expect(one).toMatchObject({ phase: "failed", attempts: 8, status: 500 });
      expect(now).toBeGreaterThan(21 * HOUR);
      expect(now).toBeLessThan(24 * HOUR);
    }
  });
});

describe("a delivery", () => {
  const claimed = claim(fresh, 10)!;
  const delivered = settle(claimed, { status: 204, problem: null }, 20, 0)!;

  it.each<[string, Delivery | undefined, object]>([
    ["is asked for at once", fresh, { phase: "asked", attempts: 0, dueAt: WEBHOOKS.askAgainMs }],
    ["is held by who sends it", claimed, { phase: "sending", dueAt: 10 + WEBHOOKS.leaseMs }],
    ["is over once received", delivered, { phase: "delivered", dueAt: null, endedAt: 20 }],
    ["waits once refused", settle(claimed, refused, 20, 0), { phase: "waiting", dueAt: 5020 }],
    ["is asked for again", overdue(fresh, HOUR, 0), { phase: "asked", dueAt: HOUR + MINUTE }],
    ["that was cut off waits", overdue(claimed, MINUTE, 0), { phase: "waiting", attempts: 1 }],
    ["that nobody sent in a day failed", overdue(fresh, 24 * HOUR, 0), { phase: "failed" }],
  ])("%s", (_, one, expected) => {
    expect(one).toMatchObject(expected);
  });

  it("is claimed once for each time that it is asked for", () => {
    expect(claim(claimed, 20)).toBeUndefined();
    expect(claim(delivered, 20)).toBeUndefined();
    expect(claim(settle(claimed, refused, 20, 0)!, 30)).toBeUndefined();
  });

  it("that ended stays as it ended", () => {
    expect(settle(delivered, refused, 30, 0)).toBeUndefined();
    const given = overdue(claimed, MINUTE, 0);
    expect(settle(given, refused, MINUTE, 0)).toBeUndefined();
    expect(settle(given, { status: 200, problem: null }, MINUTE, 0)).toMatchObject({
      phase: "delivered",
    });
  });
});
