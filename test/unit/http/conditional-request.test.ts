import { describe, expect, it } from "vitest";
import { evaluateConditions, isRangeCurrent } from "../../../src/http/conditional-request.ts";

const OLDER = "Sat, 21 Nov 2026 08:00:00 GMT";
const THEN = "Sat, 21 Nov 2026 09:00:00 GMT";
const LATER = "Sat, 21 Nov 2026 10:00:00 GMT";
const validators = { etag: '"one"', modifiedAt: new Date(Date.parse(THEN) + 999) };

describe("a conditional request", () => {
  it.each<[Record<string, string>, number]>([
    [{}, 200],
    [{ "if-none-match": '"one"' }, 304],
    [{ "if-none-match": 'W/"one"' }, 304],
    [{ "if-none-match": '"two"' }, 200],
    [{ "if-none-match": '"two", "one"' }, 304],
    [{ "if-none-match": '"two","three",W/"one"' }, 304],
    [{ "if-none-match": '"two" , , "one"' }, 304],
    [{ "if-none-match": '"a,b", "one"' }, 304],
    [{ "if-none-match": '"two, "one""' }, 200],
    [{ "if-none-match": "*" }, 304],
    [{ "if-none-match": " * " }, 304],
    [{ "if-none-match": "one" }, 200],
    [{ "if-none-match": '"One"' }, 200],
    [{ "if-none-match": "" }, 200],
    [{ "if-modified-since": THEN }, 304],
    [{ "if-modified-since": LATER }, 304],
    [{ "if-modified-since": OLDER }, 200],
    [{ "if-modified-since": "yesterday" }, 200],
    [{ "if-none-match": '"two"', "if-modified-since": LATER }, 200],
    [{ "if-none-match": '"one"', "if-modified-since": OLDER }, 304],
    [{ "if-match": '"one"' }, 200],
    [{ "if-match": '"two", "one"' }, 200],
    [{ "if-match": "*" }, 200],
    [{ "if-match": '"two"' }, 412],
    [{ "if-match": 'W/"one"' }, 412],
    [{ "if-match": "" }, 412],
    [{ "if-unmodified-since": THEN }, 200],
    [{ "if-unmodified-since": LATER }, 200],
    [{ "if-unmodified-since": OLDER }, 412],
    [{ "if-unmodified-since": "yesterday" }, 200],
    [{ "if-match": '"one"', "if-unmodified-since": OLDER }, 200],
    [{ "if-match": '"two"', "if-none-match": '"one"' }, 412],
    [{ "if-match": '"one"', "if-none-match": '"one"' }, 304],
  ])("with the headers %j returns %d", (headers, status) => {
    expect(evaluateConditions(new Headers(headers), validators)).toBe(status);
  });

  it.each<[string | null, boolean]>([
    [null, true],
    ['"one"', true],
    [' "one" ', true],
    [THEN, true],
    ['"two"', false],
    ['W/"one"', false],
    ["one", false],
    ["*", false],
    ["", false],
    [OLDER, false],
    [LATER, false],
  ])("with the If-Range %j may get a range: %s", (ifRange, expected) => {
    const headers = new Headers(ifRange === null ? {} : { "if-range": ifRange });
    expect(isRangeCurrent(headers, validators)).toBe(expected);
  });
});
