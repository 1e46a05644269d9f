import { expect, it } from "vitest";
import { RateWindows } from "../../src/routes/rate-limit.ts";

it.each<[string, [id: string, at: number][], { requests: number; seconds: number }]>([
  ["the first", [["a", 0]], { requests: 2, seconds: 60 }],
  [
    "a later one",
    [
      ["a", 0],
      ["a", 20_500],
    ],
    { requests: 1, seconds: 40 },
  ],
  [
    "another's",
    [
      ["a", 0],
      ["b", 30_000],
    ],
    { requests: 2, seconds: 60 },
  ],
  [
    "one too many",
    [
      ["a", 0],
      ["a", 0],
      ["a", 0],
      ["a", 1],
    ],
    { requests: 0, seconds: 60 },
  ],
  [
    "one at the window's end",
    [
      ["a", 0],
      ["a", 59_999],
    ],
    { requests: 1, seconds: 1 },
  ],
  [
    "the next window's",
    [
      ["a", 0],
      ["a", 60_000],
    ],
    { requests: 2, seconds: 60 },
  ],
])("what is left after %s", (_, requests, left) => {
  const windows = new RateWindows();
  const states = requests.map(([id, at]) => windows.count(id, 3, at));
  expect(states.at(-1)).toEqual(left);
});
