import { describe, expect, it } from "vitest";
import { AppError } from "../../../src/errors.ts";
import { type IndexId, trustedId } from "../../../src/ids.ts";
import { IndexGroup, notFoundIn } from "../../../src/search/index-group.ts";
import type { NamedIndexRef } from "../../../src/types.ts";
import { MemoryIndex } from "../../../tools/memory-search/memory-index.ts";
import { syntheticId } from "../../../tools/segment-batch.ts";

const NEVER = 60_000;
const WORDS = ["boat", "harbour", "crane", "lighthouse", "goat", "keeper", "storm", "lantern"];

/** A vector of a text: a dimension for each word that it may have. */
const toVector = (text: string) => [1, ...WORDS.map((word) => (text.includes(word) ? 3 : 0))];

/** Segments about changing pairs of words; those of an index share its first word. */
const SEGMENTS = Array.from({ length: 48 }, (_, at) => {
  const [one, other] = [WORDS[Math.floor(at / 12)]!, WORDS[(at * 5) % WORDS.length]!];
  return {
    segmentId: syntheticId("seg", at),
    assetId: syntheticId("vid", at),
    position: 0,
    caption: `a ${one} and a ${other}, number ${at}`,
    transcript: at % 3 === 0 ? `the ${other} is near` : "",
    onScreenText: "",
  };
});
const PARTS = [0, 12, 24, 36].map((from) => SEGMENTS.slice(from, from + 12));
const QUERIES = ["a boat", "lighthouse keeper", "goat in a storm", "crane", "number 17"];

const texts = new Map(
  [...SEGMENTS.flatMap(({ caption, transcript }) => [caption, transcript]), ...QUERIES].map(
    (text) => [text, toVector(text)],
  ),
);
const VECTORS = { texts, images: null };
const openSplit = (silent: number[] = []) => MemoryIndex.openSplit("words", PARTS, VECTORS, silent);

describe("a search of four indices", () => {
  it.each(QUERIES)("for %j ranks and scores as that of one with their segments", async (query) => {
    const whole = await MemoryIndex.open("words", SEGMENTS, VECTORS);
    const split = await openSplit();
    const expected = await whole.search({ query, topK: 20 });
    const hits = await split.search({ query, topK: 20 });
    expect(hits.map(({ segment }) => segment.segmentId)).toEqual(
      expected.map(({ segment }) => segment.segmentId),
    );
    for (const [at, { score }] of hits.entries()) expect(score).toBeCloseTo(expected[at]!.score, 2);
  });

  it("has each hit on one page, in the order of one long page", async () => {
    const split = await openSplit();
    const group = new IndexGroup(split.indices, NEVER);
    const query = "a boat";
    const { hits, total } = await split.searchIn(group, { query, topK: 60, readyBy: 1 });
    const ids = [];
    let after = null;
    do {
      const request = { query, topK: 7, after, offset: ids.length, readyBy: 1 };
      const page = await split.searchIn(group, request);
      ids.push(...page.hits.map(({ segment }) => segment.segmentId));
      after = page.next;
    } while (after);
    expect(ids).toEqual(hits.map(({ segment }) => segment.segmentId));
    expect(new Set(ids).size).toBe(total);
  });
});

describe("a search of which an index", () => {
  it("never answers has the hits of the others, as if it weren't searched", async () => {
    const split = await openSplit([1]);
    const group = new IndexGroup(split.indices, 50);
    const { hits } = await split.searchIn(group, { query: "lighthouse keeper", topK: 20 });
    const others = split.indices.filter((_, at) => at !== 1);
    const { hits: expected } = await split.searchIn(new IndexGroup(others, NEVER), {
      query: "lighthouse keeper",
      topK: 20,
    });
    expect(hits.length).toBeGreaterThan(0);
    expect(new Set(hits.map(({ asset }) => asset.indexName))).not.toContain("memory-1");
    expect(hits.map(({ segment }) => segment.segmentId)).toEqual(
      expected.map(({ segment }) => segment.segmentId),
    );
    const reason = "The index did not answer within 0.05 s; try again.";
    expect(group.partial).toEqual([{ name: "memory-1", reason }]);
  });

  it("is the only one and never answers is a timeout", async () => {
    const split = await openSplit([0, 1, 2, 3]);
    const searching = split.searchIn(new IndexGroup(split.indices, 50), {
      query: "a boat",
      topK: 5,
    });
    await expect(searching).rejects.toMatchObject({ code: "upstream_timeout" });
  });
});

describe("a group of indices", () => {
  const indices = ["a", "b"].map((name) => {
    return { indexId: trustedId<IndexId>(`ind_${name}`), name } as NamedIndexRef;
  });
  const [a, b] = indices.map(({ indexId }) => indexId) as [IndexId, IndexId];
  const busy = () => Promise.reject(new AppError("upstream_unavailable", "It is busy."));
  const fail = () => Promise.reject(new Error("a secret"));

  it.each<[string, "queryDatabase" | "queryVectors", () => Promise<never>, string, string[]]>([
    ["whose database fails is closed", "queryDatabase", busy, "It is busy.", ["b"]],
    ["whose vectors fail stays open", "queryVectors", busy, "It is busy.", ["a", "b"]],
    [
      "that fails unexpectedly doesn't say how",
      "queryDatabase",
      fail,
      "Something went wrong on our side; the log has the cause.",
      ["b"],
    ],
  ])("with an index %s", async (_, method, call, reason, answered) => {
    const group = new IndexGroup(indices, NEVER);
    expect(await group[method](a, call)).toBeNull();
    expect(group.partial).toEqual([{ name: "a", reason }]);
    const next = await group.queryDatabase(a, async () => "rows");
    expect(next).toBe(answered.includes("a") ? "rows" : null);
    expect(await group.queryDatabase(b, async () => "rows")).toBe("rows");
    expect(() => group.throwIfAllFailed()).not.toThrow();
  });

  it("of which all have failed throws the first failure", async () => {
    const group = new IndexGroup(indices, NEVER);
    await group.queryDatabase(b, busy);
    await group.queryDatabase(a, fail);
    expect(() => group.throwIfAllFailed()).toThrow("It is busy.");
  });

  it("lacks an id for sure only if no index has failed", async () => {
    const group = new IndexGroup(indices, NEVER);
    expect(notFoundIn(group, "segment", "seg_1")).toMatchObject({ code: "not_found" });
    await group.queryDatabase(a, busy);
    expect(notFoundIn(group, "segment", "seg_1")).toMatchObject({ message: "It is busy." });
  });
});
