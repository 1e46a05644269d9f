import { describe, expect, it } from "vitest";
import dots from "../../local/vector-dots.wasm";
import { TopMatches, VectorRows } from "../../local/vector-rows.ts";

const WIDTH = 20;
const ROWS = 9000;

/** Generates seeded random numbers from -1 to 1 (xorshift32). */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return state / 0x80000000;
  };
}

const dot = (a: Float32Array, b: Float32Array) => a.reduce((sum, v, i) => sum + v * b[i]!, 0);
const cosine = (a: Float32Array, b: Float32Array) => dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b));

describe("vector rows", () => {
  it("return the same matches as a naive scan after deletes and replacements", () => {
    const next = createRandom(7);
    const stored = new Map<string, Float32Array>();
    const rows = new VectorRows(WIDTH, dots);
    for (let i = 0; i < ROWS; i += 1) {
      const vector = Float32Array.from({ length: WIDTH }, next);
      rows.set(`v${i}`, vector, JSON.stringify({ even: i % 2 === 0 }));
      stored.set(`v${i}`, vector);
    }
    for (let i = 0; i < ROWS; i += 3) {
      rows.delete(`v${i}`);
      stored.delete(`v${i}`);
    }
    for (let i = 1; i < ROWS; i += 30) {
      const vector = Float32Array.from({ length: WIDTH / 2 }, next);
      rows.set(`v${i}`, vector, JSON.stringify({ even: i % 2 === 0 }));
      stored.set(
        `v${i}`,
        Float32Array.from({ length: WIDTH }, (_, j) => vector[j] ?? 0),
      );
    }
    const query = Float32Array.from({ length: WIDTH }, next);
    const top = new TopMatches(10);
    rows.scan(query, ({ even }) => even === true, top);
    const expected = [...stored]
      .filter(([id]) => Number(id.slice(1)) % 2 === 0)
      .map(([id, vector]) => ({ id, score: cosine(query, vector) }))
      .sort((a, b) => b.score - a.score)
      .slice(0, 10);
    expect(rows.size).toBe(stored.size);
    expect(top.sorted.map(({ id }) => id)).toEqual(expected.map(({ id }) => id));
    expect(top.sorted[0]?.score).toBeCloseTo(expected[0]?.score ?? 0, 5);
  });

  it("reject a vector wider than a row and score a zero vector 0", () => {
    const rows = new VectorRows(2, dots);
    expect(rows.set("wide", new Float32Array(9), "{}")).toBe(false);
    rows.set("zero", new Float32Array(2), "{}");
    const top = new TopMatches(1);
    rows.scan(Float32Array.of(1, 0), () => true, top);
    expect(top.sorted).toEqual([{ id: "zero", score: 0 }]);
  });
});
