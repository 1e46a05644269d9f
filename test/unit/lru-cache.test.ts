import { describe, expect, it } from "vitest";
import { LruCache } from "../../src/lru-cache.ts";

/** A cache of strings by count, with the keys whose values were computed. */
function createCountedCache(capacity: number) {
  const computed: string[] = [];
  const cache = new LruCache<string>(capacity);
  const get = (key: string) =>
    cache.get(key, async () => {
      computed.push(key);
      return key.toUpperCase();
    });
  return { get, computed };
}

/** A cache of byte arrays by length, with the keys whose values were computed. */
function createSizedCache(capacity: number) {
  const computed: string[] = [];
  const cache = new LruCache<Uint8Array>(capacity, ({ length }) => length);
  const get = (key: string, length: number) =>
    cache.get(key, async () => {
      computed.push(key);
      return new Uint8Array(length);
    });
  return { get, computed };
}

describe("an LRU cache by count", () => {
  it("keeps the values of the last half of its capacity, and drops those not used since", async () => {
    const { get, computed } = createCountedCache(4);
    for (const key of ["a", "b", "c", "a", "d", "a", "b", "c"]) {
      expect(await get(key)).toBe(key.toUpperCase());
    }
    expect(computed).toEqual(["a", "b", "c", "d", "b", "c"]);
  });

  it("has at most as many values as its capacity", async () => {
    const { get, computed } = createCountedCache(4);
    const keys = Array.from({ length: 20 }, (_, i) => String(i));
    for (const key of [...keys, ...keys.slice(0, 16)]) await get(key);
    expect(computed).toHaveLength(36);
  });

  it("computes a value at once that is stored like others", async () => {
    const cache = new LruCache<number>(2);
    expect(cache.getNow("a", () => 1)).toBe(1);
    expect(cache.getNow("a", () => 2)).toBe(1);
    expect(await cache.get("a", async () => 2)).toBe(1);
  });

  it("computes a value again after an error", async () => {
    const cache = new LruCache<number>(2);
    await expect(cache.get("a", () => Promise.reject(new Error("out")))).rejects.toThrow("out");
    expect(await cache.get("a", async () => 1)).toBe(1);
  });
});

describe("an LRU cache by size", () => {
  it("returns the same value while it is stored", async () => {
    const { get, computed } = createSizedCache(100);
    const first = await get("a", 40);
    expect(await get("a", 40)).toBe(first);
    expect(computed).toEqual(["a"]);
  });

  it("drops values that weren't used lately first", async () => {
    const { get, computed } = createSizedCache(100);
    for (const key of ["a", "b", "a", "c", "a", "b"]) await get(key, 40);
    expect(computed).toEqual(["a", "b", "c", "b"]);
  });

  it("doesn't store a value of more than half its capacity, and drops none for it", async () => {
    const { get, computed } = createSizedCache(100);
    for (const key of ["a", "large", "large", "a"]) await get(key, key === "a" ? 40 : 51);
    expect(computed).toEqual(["a", "large", "large"]);
  });

  it("counts a value once if it is computed twice at the same time", async () => {
    const { get, computed } = createSizedCache(100);
    await Promise.all([get("a", 25), get("a", 25)]);
    for (const key of ["b", "a", "b"]) await get(key, 25);
    expect(computed).toEqual(["a", "a", "b"]);
  });

  it("doesn't store an error", async () => {
    const cache = new LruCache<Uint8Array>(100, ({ length }) => length);
    await expect(cache.get("a", () => Promise.reject(new Error("gone")))).rejects.toThrow("gone");
    expect(await cache.get("a", async () => new Uint8Array(3))).toHaveLength(3);
  });
});
