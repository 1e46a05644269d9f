import { expect, it } from "vitest";
import { RateWindows } from "../../../src/http/rate-limit.ts";

it.each<[string, [id: string, at: number][], { requests: number; seconds: number }]>([
  ["one request", [["a", 0]], { requests: 2, seconds: 60 }],
  [
    "a second request",
    [
      ["a", 0],
      ["a", 20_500],
    ],
    { requests: 1, seconds: 40 },
  ],
  [
    "a request with another id",
    [
      ["a", 0],
      ["b", 30_000],
    ],
    { requests: 2, seconds: 60 },
  ],
  [
    "more requests than allowed",
    [
      ["a", 0],
      ["a", 0],
      ["a", 0],
      ["a", 1],
    ],
    { requests: 0, seconds: 60 },
  ],
  [
    "a request just before the window ends",
    [
      ["a", 0],
      ["a", 59_999],
    ],
    { requests: 1, seconds: 1 },
  ],
  [
    "the first request of the next window",
    [
      ["a", 0],
      ["a", 60_000],
    ],
    { requests: 2, seconds: 60 },
  ],
])("RateWindows returns the remaining requests and seconds after %s", (_, requests, expected) => {
  const windows = new RateWindows();
  const remaining = requests.map(([id, at]) => windows.count(id, 3, at));
  expect(remaining.at(-1)).toEqual(expected);
});
