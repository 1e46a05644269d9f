const SLAB_ROWS = 256;

export type Scalar = string | number | boolean | null;
/** What a vector's metadata indexes hold; a property is absent where no index covered the vector. */
export type Facets = Record<string, Scalar>;

export interface Match {
  id: string;
  score: number;
}

/** The best `limit` matches seen so far. */
export class TopMatches {
  readonly #limit: number;
  readonly #matches: Match[] = [];

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** The score from which a further match is kept. */
  get threshold(): number {
    const worst = this.#matches[this.#limit - 1];
    return worst ? worst.score : -Infinity;
  }

  offer(id: string, score: number): void {
    if (score <= this.threshold) return;
    let at = this.#matches.length;
    while (at > 0 && (this.#matches[at - 1]?.score ?? Infinity) < score) at -= 1;
    this.#matches.splice(at, 0, { id, score });
    if (this.#matches.length > this.#limit) this.#matches.pop();
  }

  /** Best first. */
  get sorted(): Match[] {
    return this.#matches;
  }
}

/** Unit vectors of one namespace in memory, scanned whole; equal facets are kept and tested once. */
export class VectorRows {
  readonly #width: number;
  readonly #slabs: Float32Array[] = [];
  readonly #ids: string[] = [];
  readonly #rowOf = new Map<string, number>();
  readonly #facetsOf: number[] = [];
  readonly #facets: Facets[] = [];
  readonly #facetsAt = new Map<string, number>();

  /** @param width the most values a row may have */
  constructor(width: number) {
    this.#width = width;
  }

  get size(): number {
    return this.#ids.length;
  }

  get bytes(): number {
    return this.#slabs.length * SLAB_ROWS * this.#width * Float32Array.BYTES_PER_ELEMENT;
  }

  /** Adds or replaces a row; false where the vector is wider than a row. */
  set(id: string, vector: Float32Array, facets: string): boolean {
    if (vector.length > this.#width) return false;
    const row = this.#rowOf.get(id) ?? this.#append(id);
    const values = this.#valuesAt(row);
    values.fill(0).set(vector);
    const scale = 1 / norm(vector);
    for (let i = 0; i < vector.length; i += 1) values[i]! *= scale;
    this.#facetsOf[row] = this.#group(facets);
    return true;
  }

  delete(id: string): void {
    const row = this.#rowOf.get(id);
    if (row === undefined) return;
    const last = this.size - 1;
    const moved = this.#ids[last]!;
    this.#valuesAt(row).set(this.#valuesAt(last));
    this.#ids[row] = moved;
    this.#facetsOf[row] = this.#facetsOf[last]!;
    this.#rowOf.set(moved, row);
    this.#rowOf.delete(id);
    this.#ids.pop();
    this.#facetsOf.pop();
  }

  /** Offers the cosine of every row whose facets are accepted. */
  scan(query: Float32Array, accepts: (facets: Facets) => boolean, top: TopMatches): void {
    const width = Math.min(this.#width, query.length);
    const length = norm(query);
    const accepted = this.#facets.map(accepts);
    let threshold = top.threshold;
    for (let row = 0; row < this.size; row += 1) {
      if (!accepted[this.#facetsOf[row]!]) continue;
      const slab = this.#slabs[Math.floor(row / SLAB_ROWS)]!;
      const score = dot(slab, (row % SLAB_ROWS) * this.#width, query, width) / length;
      if (score <= threshold) continue;
      top.offer(this.#ids[row]!, score);
      threshold = top.threshold;
    }
  }

  #append(id: string): number {
    const row = this.size;
    if (row % SLAB_ROWS === 0 && row / SLAB_ROWS === this.#slabs.length) {
      this.#slabs.push(new Float32Array(SLAB_ROWS * this.#width));
    }
    this.#ids.push(id);
    this.#rowOf.set(id, row);
    return row;
  }

  #valuesAt(row: number): Float32Array {
    const start = (row % SLAB_ROWS) * this.#width;
    return this.#slabs[Math.floor(row / SLAB_ROWS)]!.subarray(start, start + this.#width);
  }

  #group(facets: string): number {
    let group = this.#facetsAt.get(facets);
    if (group === undefined) {
      const parsed: Facets = JSON.parse(facets);
      group = this.#facets.push(parsed) - 1;
      this.#facetsAt.set(facets, group);
    }
    return group;
  }
}

/** Four sums at once, which the compiler keeps apart; about twice as fast as one. */
function dot(slab: Float32Array, start: number, query: Float32Array, width: number): number {
  let [a, b, c, d] = [0, 0, 0, 0];
  const even = width - (width % 4);
  for (let i = 0; i < even; i += 4) {
    a += slab[start + i]! * query[i]!;
    b += slab[start + i + 1]! * query[i + 1]!;
    c += slab[start + i + 2]! * query[i + 2]!;
    d += slab[start + i + 3]! * query[i + 3]!;
  }
  for (let i = even; i < width; i += 1) a += slab[start + i]! * query[i]!;
  return a + b + c + d;
}

/** 1 for the zero vector, whose cosine is thus 0. */
function norm(vector: Float32Array): number {
  return Math.sqrt(dot(vector, 0, vector, vector.length)) || 1;
}
