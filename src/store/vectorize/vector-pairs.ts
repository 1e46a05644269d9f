import type { IndexId } from "../../ids.ts";
import type { IndexRef, Shard } from "../../types.ts";

/** A Vectorize index as the vectors of one media index use it. */
export type VectorSpace = Pick<VectorizeIndex, "upsert" | "getByIds" | "deleteByIds" | "query">;

/** Two Vectorize indexes, `TEXT_VECTORS_n` and `IMAGE_VECTORS_n`. */
export interface VectorPair<Space = VectorSpace> {
  text: Space;
  image: Space;
}

/** `Env` as a type alias, which may have numbered names; an interface may not. */
type Bindings = Pick<Env, keyof Env>;
type VectorBindings = { [name in `${"TEXT" | "IMAGE"}_VECTORS_${number}`]?: VectorizeIndex };

/** Returns the pair of a number. Throws if the deployment doesn't have it. */
export function pairBindings(env: Bindings, n: number): VectorPair<VectorizeIndex> {
  const bindings: VectorBindings = env;
  const [text, image] = [bindings[`TEXT_VECTORS_${n}`], bindings[`IMAGE_VECTORS_${n}`]];
  if (!text || !image) throw new Error(`TEXT_VECTORS_${n} or IMAGE_VECTORS_${n} is not bound`);
  return { text, image };
}

/** Returns the pair with the vectors of a shard of an index, as `scopeVectors` scopes it. */
export function vectorPair(
  env: Bindings,
  { vectorPair: n, indexId }: Pick<Shard, "vectorPair"> & Pick<IndexRef, "indexId">,
): VectorPair {
  const { text, image } = pairBindings(env, n);
  return { text: scopeVectors(text, indexId), image: scopeVectors(image, indexId) };
}

/** Returns the pairs with the vectors of an index. Shards may share one. */
export function vectorPairs(env: Env, { shards, indexId }: Pick<IndexRef, "shards" | "indexId">) {
  const numbers = new Set(shards.map((shard) => shard.vectorPair));
  return [...numbers].map((number) => vectorPair(env, { vectorPair: number, indexId }));
}

/** Characters of an id that are random: 80 bits, which nobody chooses. */
const RANDOM_CHARACTERS = 16;

/**
 * Limits a Vectorize index, which all media indices share, to the vectors of one of them.
 * Namespaces keep queries apart, but ids are unique across them: a vector with the id of another
 * account's vector would replace it. A segment's id has 60 bits of a hash, which an archive can
 * influence, so 80 random bits of the index's id are added.
 */
function scopeVectors(space: VectorizeIndex, indexId: IndexId): VectorSpace {
  const suffix = `.${indexId.slice(-RANDOM_CHARACTERS)}`;
  const withSuffix = (ids: VectorizeVector["id"][]) => ids.map((id) => id + suffix);
  const fromStored = <Row extends Pick<VectorizeVector, "id">>(rows: Row[]) =>
    rows.flatMap((row) =>
      row.id.endsWith(suffix) ? [{ ...row, id: row.id.slice(0, -suffix.length) }] : [],
    );
  const rowsOf = (vectors: VectorizeVector[]) =>
    vectors.map((vector) => ({ ...vector, id: vector.id + suffix }));
  return {
    upsert: (vectors) => space.upsert(rowsOf(vectors)),
    getByIds: async (ids) => fromStored(await space.getByIds(withSuffix(ids))),
    deleteByIds: (ids) => space.deleteByIds(withSuffix(ids)),
    async query(vector, options) {
      const found = await space.query(vector, options);
      const matches = fromStored(found.matches);
      return { ...found, matches, count: matches.length };
    },
  };
}
