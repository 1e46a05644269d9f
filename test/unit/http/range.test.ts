import { expect, it } from "vitest";
import { parseRange } from "../../../src/http/conditional-request.ts";

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
  ["bytes=99-", { offset: 99, length: 1 }],
  ["bytes=0-99999999999999999999999", { offset: 0, length: 100 }],
  ["bytes=99999999999999999999999-", "unsatisfiable"],
  ["bytes=100-100", "unsatisfiable"],
  ["Bytes=0-1", { offset: 0, length: 2 }],
  ["bytes= 0-1 ", { offset: 0, length: 2 }],
  ["bytes=0-1,", "whole"],
  ["bytes=0 - 1", "whole"],
  ["bytes=+1-2", "whole"],
  ["bytes=1-2e1", "whole"],
  ["bytes=0x1-2", "whole"],
  ["bytes=--5", "whole"],
  ["bytes", "whole"],
  ["bytes=", "whole"],
  ["bytes=20-10", "whole"],
  ["bytes=0-1,5-6", "whole"],
  ["lines=0-1", "whole"],
  ["bytes=a-b", "whole"],
  ["bytes=-", "whole"],
])("the Range header %j for a file of 100 bytes gives %j", (header, range) => {
  expect(parseRange(header, 100)).toEqual(range);
});

it.each(["bytes=0-", "bytes=-5", "bytes=0-0"])(
  "the Range header %s for an empty file is unsatisfiable",
  (header) => {
    expect(parseRange(header, 0)).toBe("unsatisfiable");
  },
);
