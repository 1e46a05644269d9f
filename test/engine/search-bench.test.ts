import { describe, expect, it } from "vitest";
import { ndcg } from "../../bench/ndcg.ts";
import { decodeBatch, encodeBatch, rowsOf } from "../../bench/search/batch.ts";
import { type Answer, readServerTiming } from "../../bench/search/contestants.ts";
import { makeQueries, makeSegments } from "../../bench/search/corpus.ts";
import { type Figures, toParts, toRatios } from "../../bench/search/figures.ts";
import { countPerSecond, race } from "../../bench/search/race.ts";
import { quantile } from "../../bench/suite.ts";

function photo(name: string) {
  const captions = ["one", "two", "three", "four", "five"].map((number) => `${name} ${number}`);
  return { path: `${name}.jpg`, captions };
}

const photos = {
  known: ["a", "b", "c"].map(photo),
  others: ["p", "q", "r", "s"].map(photo),
};

describe("nDCG", () => {
  it.each<[string, boolean[], number, number]>([
    ["one that is first", [true, false], 1, 1],
    ["one that is second", [false, true], 1, 1 / Math.log2(3)],
    ["one that is not there", [false], 1, 0],
    ["one behind the depth", [false, false, false, true], 1, 0],
    ["two of two", [true, true], 2, 1],
    ["one of two", [true, false], 2, 1 / (1 + 1 / Math.log2(3))],
    ["more than the depth", [true, true, true], 9, 1],
  ])("of %s", (_, ranking, wanted, gain) => {
    expect(ndcg(ranking, wanted, 3)).toBeCloseTo(gain);
  });
});

describe("quantile", () => {
  it.each([
    [0.5, 2],
    [0.95, 4],
    [0, 1],
  ])("takes the nearest rank at %d", (share, value) => {
    expect(quantile([4, 1, 3, 2], share)).toBe(value);
  });
});

describe("the corpus", () => {
  it("holds each photo once, then pairs of photos that nobody asks about", () => {
    const segments = makeSegments(photos, 60);
    expect(segments.slice(0, 7).map(({ caption }) => caption[0])).toEqual([
      "a",
      "b",
      "c",
      "p",
      "q",
      "r",
      "s",
    ]);
    expect(segments[0]).toMatchObject({
      position: 0,
      caption: "a one a two",
      transcript: "a three",
      onScreenText: "a four",
    });
    for (const { sources } of segments.slice(7)) {
      const pair = new Set(sources.map((source) => source.photo));
      expect(pair.size).toBe(2);
      expect(Math.min(...pair)).toBeGreaterThanOrEqual(photos.known.length);
      expect(new Set(sources.map((source) => `${source.photo} ${source.sentence}`)).size).toBe(4);
    }
  });

  it("grows without changing", () => {
    expect(makeSegments(photos, 60).slice(0, 25)).toEqual(makeSegments(photos, 25));
    expect(new Set(makeSegments(photos, 60).map(({ segmentId }) => segmentId)).size).toBe(60);
    expect(makeSegments(photos, 60).at(-1)?.position).toBe(19);
  });

  it("is asked by the sentences that it doesn't hold", () => {
    expect(makeQueries(photos, 2)).toEqual([
      { text: "a five", segmentId: makeSegments(photos, 1)[0]?.segmentId },
      { text: "b five", segmentId: makeSegments(photos, 2)[1]?.segmentId },
    ]);
  });
});

describe("a batch", () => {
  it("is the same after the journey", () => {
    const passages = makeSegments(photos, 2);
    const texts = Float32Array.of(1, 2, 3, 4);
    const pictures = Float32Array.of(5, 6);
    const read = decodeBatch(encodeBatch({ passages, texts, pictures }).buffer);
    expect(read).toEqual({ passages, texts, pictures });
    expect(rowsOf(read.texts, 2)).toEqual([Float32Array.of(1, 2), Float32Array.of(3, 4)]);
  });
});

describe("Server-Timing", () => {
  it.each([
    ["model;dur=12.3, total;dur=25", { model: 12.3, total: 25 }],
    ['rows;desc="D1";dur=3, miss', { rows: 3 }],
    ["", {}],
  ])("%s", (header, parts) => {
    expect(readServerTiming(header)).toEqual(parts);
  });

  it("leaves to the Worker what is not on the longest way", () => {
    const timing = { model: 20, vectors: 10, words: 12, rows: 4, total: 25 };
    expect(toParts([{ found: [], ms: 30, timing }])).toMatchObject({ worker: 6, network: 5 });
  });
});

describe("a race", () => {
  const log: string[] = [];
  const { signal } = new AbortController();
  const runner = (name: string) => ({
    name,
    process: name,
    search: async (query: string): Promise<Answer> => {
      log.push(`${name}${query}`);
      return { found: [], ms: 1, timing: {} };
    },
  });

  it("asks everyone everything, and each first in turn", async () => {
    const answers = await race([runner("x"), runner("y")], ["1", "2"], signal);
    expect(log).toEqual(["x1", "y1", "y2", "x2"]);
    expect([...answers.values()].map(({ length }) => length)).toEqual([2, 2]);
  });

  it("counts until the time is over", async () => {
    expect(await countPerSecond(runner("x"), ["1"], { atOnce: 2, ms: 10, signal })).toBeGreaterThan(
      0,
    );
  });
});

describe("ratios", () => {
  it("are of the same size, ours over theirs", () => {
    const spread = (p50: number) => ({ p50, p95: p50, p99: p50 });
    const row = (segments: number, name: string, ms: number, ndcg10: number): Figures => ({
      segments,
      name,
      fresh: spread(2 * ms),
      known: spread(ms),
      perSecond: 1,
      ndcg10,
      parts: {},
      freshParts: {},
      mib: 1,
    });
    const figures = [row(1, "we", 10, 70), row(1, "they", 20, 60.5), row(2, "we", 30, 50)];
    expect(toRatios(figures, "we")).toEqual([
      { segments: 1, name: "they", fresh: 0.5, known: 0.5, ndcg_points: 9.5 },
    ]);
  });
});
