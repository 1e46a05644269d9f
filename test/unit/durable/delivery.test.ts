import { describe, expect, it } from "vitest";
import { WEBHOOKS } from "../../../src/config.ts";
import {
  createDelivery,
  claimDelivery,
  nextAttemptAt,
  redispatchOverdue,
  settleDelivery,
} from "../../../src/durable/webhook.ts";
import type { Delivery } from "../../../src/types.ts";

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const fresh = createDelivery({ seq: 1, type: "asset.updated", payload: "{}", url: null }, 0);
const refused = { statusCode: 500, error: "The receiver answered 500." };

describe("the next attempt of a failed delivery", () => {
  it.each([
    [1, 5 * SECOND],
    [2, 5 * MINUTE],
    [3, 30 * MINUTE],
    [4, 2 * HOUR],
    [5, 5 * HOUR],
    [6, 10 * HOUR],
    [7, 4 * HOUR],
    [8, null],
  ])("after %i attempts is %s ms later", (attempts, delay) => {
    expect(nextAttemptAt({ attempts, createdAt: 0 }, 0, 0, 0)).toBe(delay);
  });

  it("respects Retry-After and jitter within a day", () => {
    const once = { attempts: 1, createdAt: 0 };
    expect(nextAttemptAt(once, 0, 1, 0)).toBe(5500);
    expect(nextAttemptAt(once, 0, 0, HOUR)).toBe(HOUR);
    expect(nextAttemptAt(once, 0, 0, 48 * HOUR)).toBe(24 * HOUR);
    expect(nextAttemptAt(once, 24 * HOUR, 0, 0)).toBeNull();
  });

  it("is never later than a day, whatever the jitter", () => {
    for (const chance of [0, 1]) {
      let [current, now] = [fresh, 0];
      while (current.dueAt !== null) {
        const queued = redispatchOverdue(current, now, chance);
        current = settleDelivery(claimDelivery(queued, "consumer", now)!, refused, now, chance)!;
        now = current.dueAt ?? now;
      }
      expect(current).toMatchObject({ phase: "failed", attempts: 8, statusCode: 500 });
      expect(now).toBeGreaterThan(21 * HOUR);
      expect(now).toBeLessThan(24 * HOUR);
    }
  });
});

describe("a delivery", () => {
  const claimed = claimDelivery(fresh, "consumer", 10)!;
  const delivered = settleDelivery(claimed, { statusCode: 204, error: null }, 20, 0)!;

  it.each<[string, Delivery | undefined, object]>([
    ["is queued at once", fresh, { phase: "queued", attempts: 0, dueAt: WEBHOOKS.redispatchMs }],
    [
      "is leased by the consumer that sends it",
      claimed,
      { phase: "sending", dueAt: 10 + WEBHOOKS.leaseMs },
    ],
    ["ends when it is delivered", delivered, { phase: "delivered", dueAt: null, endedAt: 20 }],
    [
      "is scheduled after a failed attempt",
      settleDelivery(claimed, refused, 20, 0),
      { phase: "scheduled", dueAt: 5020 },
    ],
    [
      "is queued again when its message is overdue",
      redispatchOverdue(fresh, HOUR, 0),
      { phase: "queued", dueAt: HOUR + MINUTE },
    ],
    [
      "is scheduled when its lease expires",
      redispatchOverdue(claimed, MINUTE, 0),
      { phase: "scheduled", attempts: 1 },
    ],
    [
      "fails if no message was received for a day",
      redispatchOverdue(fresh, 24 * HOUR, 0),
      { phase: "failed" },
    ],
  ])("%s", (_, current, expected) => {
    expect(current).toMatchObject(expected);
  });

  it("is claimed once per queue message", () => {
    expect(claimDelivery(claimed, "other", 20)).toBeUndefined();
    expect(claimDelivery(delivered, "consumer", 20)).toBeUndefined();
    expect(claimDelivery(settleDelivery(claimed, refused, 20, 0)!, "consumer", 30)).toBeUndefined();
  });

  it("stays claimed by a consumer that asks again", () => {
    expect(claimDelivery(claimed, "consumer", 20)).toEqual(claimed);
  });

  it("keeps its outcome once it has ended, except for a late success", () => {
    expect(settleDelivery(delivered, refused, 30, 0)).toBeUndefined();
    const expired = redispatchOverdue(claimed, MINUTE, 0);
    expect(settleDelivery(expired, refused, MINUTE, 0)).toBeUndefined();
    expect(settleDelivery(expired, { statusCode: 200, error: null }, MINUTE, 0)).toMatchObject({
      phase: "delivered",
    });
  });
});
