import { describe, expect, it } from "vitest";
import { CALLS } from "./calls.ts";

/** What `calls.ts` asks compiles against production's types; here the answers are held against them. */
describe.each(Object.entries(CALLS))("%s answers as production does", (_, calls) => {
  it.each(calls)("to $name", async ({ run, shape }) => {
    const parsed = shape.safeParse(await run());
    expect(parsed.error).toBeUndefined();
  });
});
