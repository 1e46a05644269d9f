import { describe, expect, it } from "vitest";
import {
  type CallWindow,
  type PermitRequest,
  takePermits,
} from "../../../src/models/call-limiter.ts";

const NOW = 1_000_000_000;
const SECOND = 1000;
/** Asks for one call of a limit of 100, of which background work may use 80. */
const BACKGROUND: PermitRequest = { callsPerMinute: 100, priority: "background", count: 1 };
const INTERACTIVE: PermitRequest = { ...BACKGROUND, priority: "interactive" };

/** Takes permits in order, each at a number of seconds. Returns the last outcome. */
function takeAll(requests: [seconds: number, request: PermitRequest][]) {
  let window: CallWindow = [];
  let last = { granted: 0, waitMs: 0 };
  for (const [seconds, request] of requests) {
    const { window: next, ...permits } = takePermits(window, request, NOW + seconds * SECOND);
    window = next;
    last = permits;
  }
  return { ...last, window };
}

describe("a request for permits", () => {
  it.each<[string, [number, PermitRequest][], number, number]>([
    ["of background work gets all that it asks for", [[0, { ...BACKGROUND, count: 8 }]], 8, 0],
    [
      "that reaches the background's share is granted",
      [
        [0, { ...BACKGROUND, count: 72 }],
        [0, { ...BACKGROUND, count: 8 }],
      ],
      8,
      0,
    ],
    [
      "beyond the background's share waits until the first calls leave the window",
      [
        [0, { ...BACKGROUND, count: 80 }],
        [20, BACKGROUND],
      ],
      0,
      41,
    ],
    [
      "gets none if only some of its permits are free",
      [
        [0, { ...BACKGROUND, count: 40 }],
        [10, { ...BACKGROUND, count: 35 }],
        [20, { ...BACKGROUND, count: 8 }],
      ],
      0,
      41,
    ],
    [
      "waits for as many of the calls as it needs to leave the window",
      [
        [0, { ...BACKGROUND, count: 4 }],
        [10, { ...BACKGROUND, count: 76 }],
        [20, { ...BACKGROUND, count: 8 }],
      ],
      0,
      51,
    ],
    [
      "is granted once the calls have left the window",
      [
        [0, { ...BACKGROUND, count: 80 }],
        [61, { ...BACKGROUND, count: 80 }],
      ],
      80,
      0,
    ],
    ["of more than the share gets the share", [[0, { ...BACKGROUND, count: 200 }]], 80, 0],
    ["with a limit of one call gets it", [[0, { ...BACKGROUND, callsPerMinute: 1 }]], 1, 0],
    [
      "of background work counts interactive calls",
      [
        [0, { ...INTERACTIVE, count: 80 }],
        [0, BACKGROUND],
      ],
      0,
      61,
    ],
    [
      "of an interactive call is granted while background work waits",
      [
        [0, { ...BACKGROUND, count: 80 }],
        [0, INTERACTIVE],
      ],
      1,
      0,
    ],
    [
      "of an interactive call is granted beyond the limit, which Workers AI enforces",
      [
        [0, { ...INTERACTIVE, count: 100 }],
        [0, INTERACTIVE],
      ],
      1,
      0,
    ],
  ])("%s", (_, requests, granted, waitSeconds) => {
    const outcome = takeAll(requests);
    expect(outcome).toMatchObject({ granted, waitMs: waitSeconds * SECOND });
  });

  it("keeps one count for each second and none that has expired", () => {
    const requests = Array.from({ length: 200 }, (_, i): [number, PermitRequest] => [
      i / 2,
      INTERACTIVE,
    ]);
    const { window } = takeAll(requests);
    expect(window).toHaveLength(61);
    expect(window.every(({ count }) => count === 2)).toBe(true);
  });
});
