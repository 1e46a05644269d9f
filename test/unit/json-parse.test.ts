import { describe, expect, it } from "vitest";
import { parseJsonText } from "../../src/json-parse.ts";

const MAX_MEMBERS = 16_384;
const members = (count: number) => {
  return `{${Array.from({ length: count }, (_, i) => `"${i}":0`).join(",")}}`;
};

describe("a JSON text", () => {
  it.each([
    ["with as many members as allowed", members(MAX_MEMBERS)],
    ["with a list of more values than an object may have", `[${"0,".repeat(MAX_MEMBERS)}0]`],
    ["with several objects that have more members together", `[${members(9000)},${members(9000)}]`],
    ["with brackets and commas in a string", `"${"{,[".repeat(MAX_MEMBERS)}"`],
    ["with the replacement character", '"\u{fffd}"'],
  ])("%s is parsed", (_, text) => {
    const value = JSON.parse(text) as unknown;
    expect(parseJsonText(new TextEncoder().encode(text))).toEqual({ value });
  });

  it.each<[title: string, text: string, reason: RegExp, maxValues?: number]>([
    ["with one member too many", members(MAX_MEMBERS + 1), /more than 16384 members/],
    ["with one too many in an inner object", `[${members(MAX_MEMBERS + 1)}]`, /16384 members/],
    ["with too many values", `[${"0,".repeat(100)}0]`, /more than 100 values/, 100],
    ["that nests too deep", "[".repeat(33), /deeper than 32 levels/],
    ["with commas alone", ",".repeat(50), /not JSON/],
  ])("%s is refused", (_, text, reason, maxValues) => {
    expect(parseJsonText(text, maxValues)).toMatchObject({ reason: expect.stringMatching(reason) });
  });

  it("with a byte that isn't UTF-8 is refused with its offset", () => {
    const bytes = Uint8Array.of(0x22, 0xef, 0xbf, 0xbd, 0xff, 0x22);
    expect(parseJsonText(bytes)).toEqual({ byteOffset: 4, reason: "it is not UTF-8" });
  });
});
