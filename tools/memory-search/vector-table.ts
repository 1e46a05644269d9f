/** A vector of a segment, as Vectorize stores it. */
export interface StoredVector {
  /** `{segment}:{kind}`. */
  id: string;
  values: ArrayLike<number>;
  metadata: { asset_id: string; asset_type: string; kind: string };
}

/** The best matches so far, in no order, and the place of the worst of them. */
interface Best {
  rows: number[];
  scores: number[];
  worst: number;
}

/** Vectors in memory that are searched exactly, with the part of Vectorize that a search uses. */
export class VectorTable {
  readonly #vectors: StoredVector[] = [];
  readonly #dimensions: number;
  #matrix = new Float32Array();

  constructor(vectors: readonly StoredVector[]) {
    this.#vectors = [...vectors];
    this.#dimensions = vectors[0]?.values.length ?? 0;
    this.#matrix = new Float32Array(vectors.length * this.#dimensions);
    for (const [row, { values }] of vectors.entries()) {
      this.#matrix.set(toUnitVector(values), row * this.#dimensions);
    }
  }

  /** Returns the nearest vectors by cosine, best first. */
  async query(values: number[], { topK = 5, filter = {} }: VectorizeQueryOptions) {
    const query = toUnitVector(values);
    const best: Best = { rows: [], scores: [], worst: 0 };
    const rules = Object.entries(filter) as [keyof StoredVector["metadata"], Rule][];
    for (const [row, vector] of this.#vectors.entries()) {
      if (meets(vector, rules)) keepBest(best, row, this.#cosine(row, query), topK);
    }
    const matches = best.rows
      .map((row, at) => ({ id: this.#vectors[row]!.id, score: best.scores[at]! }))
      .toSorted((a, b) => b.score - a.score);
    return { matches, count: matches.length };
  }

  /** Returns the vectors with these ids that are there. */
  async getByIds(ids: string[]) {
    const wanted = new Set(ids);
    return this.#vectors
      .filter(({ id }) => wanted.has(id))
      .map(({ id, values }) => ({ id, values: Array.from(values) }));
  }

  #cosine(row: number, query: Float32Array): number {
    const start = row * this.#dimensions;
    let sum = 0;
    for (let i = 0; i < this.#dimensions; i++) sum += this.#matrix[start + i]! * query[i]!;
    return sum;
  }
}

function toUnitVector(values: ArrayLike<number>): Float32Array {
  let square = 0;
  for (let i = 0; i < values.length; i++) square += values[i]! * values[i]!;
  const length = Math.sqrt(square) || 1;
  const unit = new Float32Array(values.length);
  for (let i = 0; i < values.length; i++) unit[i] = values[i]! / length;
  return unit;
}

function keepBest(best: Best, row: number, score: number, count: number): void {
  if (best.rows.length < count) {
    best.rows.push(row);
    best.scores.push(score);
  } else if (score > best.scores[best.worst]!) {
    best.rows[best.worst] = row;
    best.scores[best.worst] = score;
  } else return;
  if (best.rows.length < count) return;
  best.worst = 0;
  for (const [at, other] of best.scores.entries()) {
    if (other < best.scores[best.worst]!) best.worst = at;
  }
}

/** A condition of a filter: one of a list of values, or not a value. Searches use no others. */
interface Rule {
  $in?: string[];
  $ne?: string;
}

function meets(
  { metadata }: StoredVector,
  rules: readonly [keyof StoredVector["metadata"], Rule][],
): boolean {
  return rules.every(([field, { $in, $ne }]) => {
    return $in ? $in.includes(metadata[field]) : metadata[field] !== $ne;
  });
}
