import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import { type IndexId, newId } from "../../src/ids.ts";
import { type VectorSpace, vectorPair } from "../../src/store/vectorize/vector-pairs.ts";
import { type SegmentVector, upsertVectors } from "../../src/store/vectorize/vectors.ts";
import { errorOf } from "../local/bindings.ts";

/** The vectors of an index, and the values of one. */
interface Scoped {
  indexId: IndexId;
  values: number[];
  space: VectorSpace;
}

it("upserting vectors of other dimensions than the index fails with a clear message", async () => {
  const segment = { segmentId: "seg_1", indexId: "ind_1", assetId: "img_1", startMs: null };
  const vector = { segment, kind: "image", values: [1, 0, 0], model: "tiny" } as SegmentVector;
  const error = await errorOf(upsertVectors(env.IMAGE_VECTORS_1, [vector], "image"));
  expect(error).toMatchObject({ code: "model_request_rejected" });
  expect(error.message).toMatch(/tiny have 3 dimensions/);
});

it("indices that have a vector of the same id don't see, replace or delete each other's", async () => {
  const id = "seg_01KATN5D1B2C3D4E5F6G7H8J9K:caption";
  const [first, second] = [newId("ind"), newId("ind")].map((indexId, i) => {
    const values = Array.from({ length: 1024 }, (_, at) => Number(at === i));
    return { indexId, values, space: vectorPair(env, { vectorPair: 1, indexId }).text };
  }) as [Scoped, Scoped];
  for (const { space, indexId, values } of [first, second])
    await space.upsert([{ id, namespace: indexId, values }]);
  const valuesOf = async ({ space }: Scoped) =>
    (await space.getByIds([id])).map((row) => row.values);
  expect(await valuesOf(first)).toEqual([first.values]);
  expect(await valuesOf(second)).toEqual([second.values]);
  await second.space.deleteByIds([id]);
  expect(await valuesOf(second)).toEqual([]);
  const { matches } = await first.space.query(first.values, { namespace: first.indexId });
  expect(matches).toMatchObject([{ id }]);
});
