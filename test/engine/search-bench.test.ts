import { describe, expect, it } from "vitest";
import { makeQueries, makeSegments } from "../../bench/search/corpus.ts";
import { type SearchFigures, toParts, toRatios } from "../../bench/search/figures.ts";
import { measureThroughput, interleaveQueries } from "../../bench/search/interleave.ts";
import { type TimedSearch, parseServerTiming } from "../../bench/search/systems.ts";
import { ndcg } from "../../tools/ndcg.ts";
import { decodeBatch, encodeBatch, splitRows } from "../../tools/segment-batch.ts";
import { quantile } from "../../tools/suite.ts";

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
    ["a relevant item at rank 1", [true, false], 1, 1],
    ["a relevant item at rank 2", [false, true], 1, 1 / Math.log2(3)],
    ["a missing relevant item", [false], 1, 0],
    ["a relevant item below the depth", [false, false, false, true], 1, 0],
    ["both of two relevant items", [true, true], 2, 1],
    ["one of two relevant items", [true, false], 2, 1 / (1 + 1 / Math.log2(3))],
    ["more relevant items than the depth", [true, true, true], 9, 1],
  ])("of %s matches the definition", (_, ranking, relevantCount, gain) => {
    expect(ndcg(ranking, relevantCount, 3)).toBeCloseTo(gain);
  });
});

describe("quantile", () => {
  it.each([
    [0.5, 2],
    [0.95, 4],
    [0, 1],
  ])("at %d returns the value of the nearest rank", (share, value) => {
    expect(quantile([4, 1, 3, 2], share)).toBe(value);
  });
});

describe("the benchmark corpus", () => {
  it("has each photo once, then pairs of photos without queries", () => {
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

  it("keeps its segments when it grows", () => {
    expect(makeSegments(photos, 60).slice(0, 25)).toEqual(makeSegments(photos, 25));
    expect(new Set(makeSegments(photos, 60).map(({ segmentId }) => segmentId)).size).toBe(60);
    expect(makeSegments(photos, 60).at(-1)?.position).toBe(19);
  });

  it("has queries made of the captions that no segment contains", () => {
    expect(makeQueries(photos, 2)).toEqual([
      { text: "a five", segmentId: makeSegments(photos, 1)[0]?.segmentId },
      { text: "b five", segmentId: makeSegments(photos, 2)[1]?.segmentId },
    ]);
  });
});

describe("a segment batch", () => {
  it("is unchanged after encoding and decoding", () => {
    const segments = makeSegments(photos, 2);
    const textVectors = Float32Array.of(1, 2, 3, 4);
    const imageVectors = Float32Array.of(5, 6);
    const read = decodeBatch(encodeBatch({ segments, textVectors, imageVectors }).buffer);
    expect(read).toEqual({
      segments,
      textVectors,
      imageVectors,
    });
    expect(splitRows(read.textVectors, 2)).toEqual([Float32Array.of(1, 2), Float32Array.of(3, 4)]);
  });
});

describe("a Server-Timing header", () => {
  it.each([
    ["embed;dur=12.3, total;dur=25", { embed: 12.3, total: 25 }],
    ['hydrate;desc="D1";dur=3, miss', { hydrate: 3 }],
    ["", {}],
  ])("%j is parsed into durations by name", (header, parts) => {
    expect(parseServerTiming(header)).toEqual(parts);
  });

  it("attributes the time off the critical path to the Worker", () => {
    const timing = { embed: 20, knn: 10, fulltext: 12, hydrate: 4, total: 25 };
    expect(toParts([{ segmentIds: [], ms: 30, timing }])).toMatchObject({ worker: 6, network: 5 });
  });
});

describe("interleaved queries", () => {
  const log: string[] = [];
  const { signal } = new AbortController();
  const createSystem = (name: string) => ({
    name,
    processName: name,
    search: async (query: string): Promise<TimedSearch> => {
      log.push(`${name}${query}`);
      return { segmentIds: [], ms: 1, timing: {} };
    },
  });

  it("run on every system, and each system is first in turn", async () => {
    const results = await interleaveQueries(
      [createSystem("x"), createSystem("y")],
      ["1", "2"],
      signal,
    );
    expect(log).toEqual(["x1", "y1", "y2", "x2"]);
    expect([...results.values()].map(({ length }) => length)).toEqual([2, 2]);
  });

  it("are counted until the time is over", async () => {
    expect(
      await measureThroughput(createSystem("x"), ["1"], { concurrency: 2, ms: 10, signal }),
    ).toBeGreaterThan(0);
  });
});

describe("latency ratios", () => {
  it("compare our service with the others at the same corpus size", () => {
    const spread = (p50: number) => ({ p50, p95: p50, p99: p50 });
    const row = (segments: number, name: string, ms: number, ndcg10: number): SearchFigures => ({
      segments,
      name,
      uncached: spread(2 * ms),
      cached: spread(ms),
      perSecond: 1,
      ndcg10,
      parts: {},
      uncachedParts: {},
      mib: 1,
    });
    const figures = [
      row(1, "we", 10, 70),
      row(1, "empty", 2, 0),
      row(1, "they", 20, 60.5),
      row(2, "we", 30, 50),
    ];
    expect(toRatios(figures, "we", "empty")).toEqual([
      {
        segments: 1,
        name: "they",
        uncached: 0.5,
        cached: 0.5,
        uncached_net: 0.4,
        cached_net: 0.3,
        ndcg_points: 9.5,
      },
    ]);
  });
});
