import { expect, it } from "vitest";
import { Recent } from "../../src/models/recent.ts";

it("what was asked for lately is made once", async () => {
  const made: string[] = [];
  const recent = new Recent<string>(2);
  const ask = (key: string) =>
    recent.get(key, async () => {
      made.push(key);
      return key.toUpperCase();
    });
  for (const key of ["a", "b", "a", "c", "a", "b"]) expect(await ask(key)).toBe(key.toUpperCase());
  expect(made).toEqual(["a", "b", "c", "b"]);
});

it("a failure is made anew", async () => {
  const recent = new Recent<number>(2);
  await expect(recent.get("a", () => Promise.reject(new Error("out")))).rejects.toThrow("out");
  expect(await recent.get("a", async () => 1)).toBe(1);
});
