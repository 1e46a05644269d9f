import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, describe, expect, it, vi } from "vitest";
import { VectorSpace } from "../../local/vector-space.ts";
import { localSpace, rejectionMessage } from "./bindings.ts";

const space = localSpace("IMAGE_VECTORS_1");
const DIMENSIONS = 768;

/** Returns the unit vector at `turn` of the angle from axis 0 to axis 1. */
function unitVectorAt(turn: number, dimensions = DIMENSIONS): number[] {
  const values = Array.from({ length: dimensions }, () => 0);
  values[0] = Math.cos((turn * Math.PI) / 2);
  values[1] = Math.sin((turn * Math.PI) / 2);
  return values;
}

function vector(id: string, turn: number, namespace = "a", metadata = {}): VectorizeVector {
  return { id, values: unitVectorAt(turn), namespace, metadata };
}

const ids = ({ matches }: VectorizeMatches) => matches.map(({ id }) => id);
const makeIds = (count: number) => Array.from({ length: count }, (_, i) => `many-${i}`);

const upsert = (changes: Partial<VectorizeVector>) =>
  space.upsert([{ ...vector("id", 0), ...changes }]);
const query = (options: VectorizeQueryOptions) => space.query(unitVectorAt(0), options);

describe("a vector space", () => {
  it("returns the nearest of a namespace first, with the cosine as score", async () => {
    await space.upsert([vector("east", 0), vector("north", 1), vector("between", 0.5)]);
    await space.upsert([vector("elsewhere", 0, "b")]);
    const found = await space.query(unitVectorAt(0.1), { namespace: "a", topK: 3 });
    expect(ids(found)).toEqual(["east", "between", "north"]);
    expect(found.count).toBe(3);
    expect(found.matches[0]?.score).toBeCloseTo(Math.cos(0.05 * Math.PI), 5);
    expect(found.matches[0]).not.toHaveProperty("values");
    expect(found.matches[0]).not.toHaveProperty("metadata");
    expect(ids(await space.query(unitVectorAt(0)))).toContain("elsewhere");
    expect(ids(await space.query(unitVectorAt(0), { namespace: "nowhere" }))).toEqual([]);
  });

  it("returns values padded to the dimensions of the index", async () => {
    await space.upsert([vector("padded", 0.5, "padded", { asset_id: "x", note: "n" })]);
    const [found] = await space.getByIds(["padded", "missing"]);
    expect(found?.values).toHaveLength(DIMENSIONS);
    expect(found).toMatchObject({ namespace: "padded", metadata: { asset_id: "x", note: "n" } });
    const { matches } = await space.query(unitVectorAt(0.5), {
      namespace: "padded",
      returnValues: true,
      returnMetadata: "indexed",
    });
    expect(matches[0]?.values).toHaveLength(DIMENSIONS);
    expect(matches[0]?.metadata).toEqual({ asset_id: "x" });
  });

  it("replaces on upsert, keeps existing vectors on insert and deletes by id", async () => {
    await space.upsert([vector("one", 0, "w")]);
    await space.insert([vector("one", 1, "w"), vector("two", 1, "w")]);
    expect(ids(await space.query(unitVectorAt(0), { namespace: "w" }))).toEqual(["one", "two"]);
    await space.upsert([vector("one", 0.9, "w"), { ...vector("two", 0, "w") }]);
    expect(ids(await space.query(unitVectorAt(0), { namespace: "w" }))).toEqual(["two", "one"]);
    await space.upsert([vector("one", 0, "moved")]);
    expect(ids(await space.query(unitVectorAt(0), { namespace: "w" }))).toEqual(["two"]);
    await space.deleteByIds(["two", "never"]);
    expect(ids(await space.query(unitVectorAt(0), { namespace: "w" }))).toEqual([]);
    expect(await space.getByIds(["two"])).toEqual([]);
  });

  it("queries by the id of a stored vector", async () => {
    await space.upsert([vector("seed", 0.2, "q"), vector("near", 0.3, "q")]);
    expect(ids(await space.queryById("seed", { namespace: "q" }))).toEqual(["seed", "near"]);
    expect(await rejectionMessage(space.queryById("unknown"))).toMatch(/not found/);
  });

  it("describe returns the number of vectors and the last mutation", async () => {
    const { mutationId } = await space.upsert([vector("described", 0, "described")]);
    const info = await space.describe();
    expect(info).toMatchObject({ dimensions: DIMENSIONS, processedUpToMutation: mutationId });
    expect(info.vectorCount).toBeGreaterThan(0);
    expect(Date.parse(info.processedUpToDatetime ?? "")).toBeGreaterThan(0);
  });
});

describe("a metadata filter", () => {
  it.for<[VectorizeVectorMetadataFilter, string[]]>([
    [{ asset_id: "x" }, ["f1", "f2"]],
    [{ asset_id: { $eq: "y" } }, ["f3"]],
    [{ asset_id: { $ne: "x" } }, ["f3", "f4"]],
    [{ asset_id: { $in: ["x", "y"] } }, ["f1", "f2", "f3"]],
    [{ asset_id: { $nin: ["x"] } }, ["f3", "f4"]],
    [{ asset_id: { $gt: "x" } }, ["f3"]],
    [{ asset_id: { $gte: "x", $lt: "y" } }, ["f1", "f2"]],
    [{ asset_id: { $lte: "x" } }, ["f1", "f2"]],
    [{ asset_id: "x", kind: "caption" }, ["f1"]],
    [{ asset_id: null }, ["f4"]],
    [{ note: "n" }, []],
    [{ note: { $ne: "other" } }, []],
  ])("%j selects the ids %j", async ([filter, expected]) => {
    await space.upsert([
      vector("f1", 0, "f", { asset_id: "x", kind: "caption", note: "n" }),
      vector("f2", 0, "f", { asset_id: "x", kind: "text" }),
      vector("f3", 0, "f", { asset_id: "y" }),
      vector("f4", 0, "f", { kind: "text" }),
    ]);
    const found = await space.query(unitVectorAt(0), { namespace: "f", filter });
    expect(ids(found).sort()).toEqual(expected);
  });

  it("matches only vectors written after the metadata index was created", async () => {
    await space.upsert([vector("before", 0, "late", { shelf: 3 })]);
    await space.createMetadataIndex("shelf", "number");
    await space.upsert([vector("after", 0, "late", { shelf: 3 })]);
    const options = { namespace: "late", filter: { shelf: { $gte: 3 } } };
    expect(ids(await space.query(unitVectorAt(0), options))).toEqual(["after"]);
    await space.upsert([vector("before", 0, "late", { shelf: 3 })]);
    expect(ids(await space.query(unitVectorAt(0), options)).sort()).toEqual(["after", "before"]);
  });

  it("compares the first 64 bytes of a string", async () => {
    const long = "é".repeat(40);
    await space.upsert([vector("long", 0, "long", { asset_id: long })]);
    const options = { namespace: "long", filter: { asset_id: "é".repeat(32) } };
    expect(ids(await query(options))).toEqual(["long"]);
    expect(ids(await query({ ...options, filter: { asset_id: long } }))).toEqual([]);
  });
});

describe("a vector space rejects", () => {
  it.for<[string, () => PromiseLike<unknown>, RegExp]>([
    ["another dimension", () => upsert({ values: [1] }), /40012.*expected 768.*got 1 dim/],
    ["a value that is NaN", () => upsert({ values: unitVectorAt(Number.NaN) }), /40023/],
    ["an id over 64 bytes", () => upsert({ id: "é".repeat(33) }), /40008.*got 66 bytes/],
    [
      "a namespace over 64 bytes",
      () => upsert({ namespace: "n".repeat(65) }),
      /namespace too long/,
    ],
    ["an unpaired surrogate", () => upsert({ metadata: { text: "\ud83d" } }), /40023/],
    ["a metadata key with a dot", () => upsert({ metadata: { "a.b": 1 } }), /invalid metadata key/],
    ["10 KiB of metadata", () => upsert({ metadata: { t: "x".repeat(10_240) } }), /too large/],
    ["an empty batch", () => space.upsert([]), /1 to 1000/],
    [
      "1,001 vectors a call",
      () => space.insert(makeIds(1001).map((id) => ({ id, values: [] }))),
      /VECTOR_INSERT_ERROR.*got 1001/,
    ],
    ["21 ids to get", () => space.getByIds(makeIds(21)), /VECTOR_GET_ERROR.*40007.*is 20, got 21/],
    ["101 ids to delete", () => space.deleteByIds(makeIds(101)), /40007.*is 100, got 101/],
    ["a query of another dimension", () => space.query([1]), /40006.*expected 768.*got 1/],
    ["topK 101", () => query({ topK: 101 }), /40025.*max top K is 100, but got 101/],
    ["topK 0", () => query({ topK: 0 }), /40025/],
    ["topK 51 with values", () => query({ topK: 51, returnValues: true }), /40025.*is 50/],
    ["topK 51 with metadata", () => query({ topK: 51, returnMetadata: "all" }), /40025.*is 50/],
    ["topK 51 with metadata: true", () => query({ topK: 51, returnMetadata: true }), /40025/],
    ["metadata: false", () => query({ returnMetadata: false }), /40026/],
    ["an empty filter", () => query({ filter: {} }), /non-empty/],
    ["a filter of 2,048 bytes", () => query({ filter: { a: "x".repeat(2040) } }), /2048 bytes/],
    ["a filter key that begins with $", () => query({ filter: { $and: "x" } }), /filter key/],
    ["a list without $in", () => query({ filter: { a: { $eq: JSON.parse("[1]") } } }), /\$eq/],
    ["an unknown operator", () => query({ filter: { a: JSON.parse('{"$like":"x"}') } }), /\$like/],
  ])("%s", async ([, call, message]) => {
    expect(await rejectionMessage(call())).toMatch(message);
  });

  it("an eleventh metadata index", async () => {
    const text = localSpace("TEXT_VECTORS_1");
    for (let i = 3; i < 10; i += 1) await text.createMetadataIndex(`p${i}`, "string");
    expect(await rejectionMessage(text.createMetadataIndex("p10", "string"))).toMatch(/at most 10/);
  });

  it("no request at a limit", async () => {
    await space.upsert(makeIds(1000).map((id) => vector(id, 0, "many")));
    const options = { namespace: "many" };
    expect((await space.query(unitVectorAt(0), { ...options, topK: 100 })).count).toBe(100);
    const full = { ...options, topK: 50, returnValues: true, returnMetadata: "all" } as const;
    expect((await space.query(unitVectorAt(0), full)).count).toBe(50);
    expect(await space.getByIds(makeIds(20))).toHaveLength(20);
    await space.deleteByIds(makeIds(100));
    expect(await space.getByIds(makeIds(1))).toEqual([]);
  });
});

describe("the index of text embeddings", () => {
  it("has 1,024 dimensions", async () => {
    await localSpace("TEXT_VECTORS_1").upsert([{ id: "t", values: unitVectorAt(0, 1024) }]);
    expect((await env.TEXT_VECTORS_1.query(unitVectorAt(0, 1024))).matches[0]?.id).toBe("t");
  });
});

describe("a write with a lag", () => {
  afterEach(() => {
    vi.restoreAllMocks();
  });

  it("becomes visible in order when it is due, and describe reports it", async () => {
    const shares = [1, 0, 1]; // the second one isn't visible before the first
    vi.spyOn(Math, "random").mockImplementation(() => shares.shift() ?? 1);

    const stub = env.VECTOR_SPACES.getByName("lagging");
    const lag = 250;
    await runInDurableObject(stub, async (_, state) => {
      const lagging = new VectorSpace(state, { VECTORIZE_LAG_MS: String(lag) });
      const props = { name: "lagging", dimensions: 2, metadata_indexes: {} };
      const row = { id: "v", namespace: "", values: Float32Array.of(1, 0), metadata: null };
      const plan = {
        vector: Float32Array.of(1, 0),
        topK: 1,
        namespace: undefined,
        conditions: [],
        returnValues: false,
        returnMetadata: "none" as const,
      };
      lagging.write("insert", [row], props);
      const last = lagging.write("upsert", [{ ...row, values: Float32Array.of(0, 1) }], props);
      expect(lagging.query(plan)).toEqual([]);
      expect(lagging.describe()).toEqual({ vectorCount: 0, processedAt: null, mutation: null });
      await scheduler.wait(lag + 50);
      expect(lagging.query(plan)?.[0]).toMatchObject({ id: "v", score: 0 });
      expect(lagging.describe()).toMatchObject({ vectorCount: 1, mutation: last });
      lagging.delete(["v"]);
      expect(lagging.get(["v"])).toHaveLength(1);
      await scheduler.wait(lag + 50);
      expect(lagging.get(["v"])).toEqual([]);
    });
  });
});
