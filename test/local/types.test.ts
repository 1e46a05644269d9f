import { describe, expect, it } from "vitest";
import { CALLS } from "./calls.ts";

/** `calls.ts` compiles against production's types; this test validates the results. */
describe.each(Object.entries(CALLS))(
  "the stand-in for %s returns the types of production",
  (_, calls) => {
    it.each(calls)("for $name", async ({ run, shape }) => {
      const parsed = shape.safeParse(await run());
      expect(parsed.error).toBeUndefined();
    });
  },
);
