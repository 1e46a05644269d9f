import { expect, it } from "vitest";
import { parseRange } from "../../src/routes/media.ts";

it.each<[string | null, ReturnType<typeof parseRange>]>([
  [null, "whole"],
  ["", "whole"],
  ["bytes=0-", { offset: 0, length: 100 }],
  ["bytes=0-0", { offset: 0, length: 1 }],
  ["bytes=10-19", { offset: 10, length: 10 }],
  ["bytes=90-500", { offset: 90, length: 10 }],
  ["bytes=-5", { offset: 95, length: 5 }],
  ["bytes=-500", { offset: 0, length: 100 }],
  ["bytes=-0", "unsatisfiable"],
  ["bytes=100-", "unsatisfiable"],
  ["bytes=20-10", "whole"],
  ["bytes=0-1,5-6", "whole"],
  ["lines=0-1", "whole"],
  ["bytes=a-b", "whole"],
  ["bytes=-", "whole"],
])("the range %j of 100 bytes is %j", (header, range) => {
  expect(parseRange(header, 100)).toEqual(range);
});
