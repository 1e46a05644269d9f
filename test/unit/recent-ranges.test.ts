import { expect, it } from "vitest";
import { RecentRanges } from "../../src/media/recent-ranges.ts";

function reader() {
  const reads: string[] = [];
  const ranges = new RecentRanges(100);
  const get = (name: string, length: number) =>
    ranges.get(name, async () => {
      reads.push(name);
      return new Uint8Array(length);
    });
  return { get, reads };
}

it("a range is read once while it is kept", async () => {
  const { get, reads } = reader();
  const first = await get("a", 40);
  expect(await get("a", 40)).toBe(first);
  expect(reads).toEqual(["a"]);
});

it("those that were asked for longest ago go first", async () => {
  const { get, reads } = reader();
  for (const name of ["a", "b", "a", "c", "a", "b"]) await get(name, 40);
  expect(reads).toEqual(["a", "b", "c", "b"]);
});

it("what is larger than half of all isn't kept, and drives nothing out", async () => {
  const { get, reads } = reader();
  for (const name of ["a", "large", "large", "a"]) await get(name, name === "a" ? 40 : 51);
  expect(reads).toEqual(["a", "large", "large"]);
});

it("a range that is read twice at the same time counts once", async () => {
  const { get, reads } = reader();
  await Promise.all([get("a", 50), get("a", 50)]);
  for (const name of ["b", "a"]) await get(name, 50);
  expect(reads).toEqual(["a", "a", "b"]);
});

it("a failure isn't kept", async () => {
  const ranges = new RecentRanges(100);
  await expect(ranges.get("a", () => Promise.reject(new Error("gone")))).rejects.toThrow("gone");
  expect(await ranges.get("a", async () => new Uint8Array(3))).toHaveLength(3);
});
