/** Rows by which the memory grows. */
const SLAB_ROWS = 256;
const PAGE_BYTES = 65_536;
/** Rows scored in one call. */
const SCORED_ROWS = 1024;
/** Values multiplied in one step of `vector-dots.wat`. */
const STRIDE = 8;

/** Exports of `vector-dots.wat`; offsets and widths are in bytes. */
interface Dots {
  memory: WebAssembly.Memory;
  dots: (query: number, row: number, count: number, width: number, scores: number) => void;
}

/** Makes an instance of `vector-dots.wasm`, with a memory of its own. */
function openDots(module: WebAssembly.Module): Dots {
  return new WebAssembly.Instance(module).exports as unknown as Dots; // their types aren't known
}

/** Returns the values that a row takes in memory: padded to a multiple of what one step reads. */
function paddedWidth(length: number): number {
  return Math.ceil(length / STRIDE) * STRIDE;
}

export type Scalar = string | number | boolean | null;
/** A vector's indexed metadata. A property is absent if no index covered the vector's write. */
export type Facets = Record<string, Scalar>;

export interface Match {
  id: string;
  score: number;
}

/** The best `limit` matches offered so far. */
export class TopMatches {
  readonly #limit: number;
  readonly #matches: Match[] = [];

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Score that a further match has to exceed. */
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

  /** Matches, best first. */
  get sorted(): Match[] {
    return this.#matches;
  }
}

/** Unit vectors of one namespace in memory, scanned exhaustively; equal facets are tested once. */
export class VectorRows {
  readonly #width: number;
  readonly #dots: ReturnType<typeof openDots>["dots"];
  readonly #memory: WebAssembly.Memory;
  /** The query, then the scores of `SCORED_ROWS` rows, then the rows. */
  #values: Float32Array;
  readonly #scoresAt: number;
  readonly #rowsAt: number;
  readonly #ids: string[] = [];
  readonly #rowOf = new Map<string, number>();
  readonly #facetsOf: number[] = [];
  readonly #facets: Facets[] = [];
  readonly #facetsAt = new Map<string, number>();

  /**
   * @param width maximum number of values in a row
   * @param module `vector-dots.wasm`
   */
  constructor(width: number, module: WebAssembly.Module) {
    const { memory, dots } = openDots(module);
    this.#width = paddedWidth(Math.max(1, width));
    this.#dots = dots;
    this.#memory = memory;
    this.#values = new Float32Array(memory.buffer);
    this.#scoresAt = this.#width;
    this.#rowsAt = this.#scoresAt + SCORED_ROWS;
  }

  get size(): number {
    return this.#ids.length;
  }

  get bytes(): number {
    return this.#memory.buffer.byteLength;
  }

  /** Adds or replaces a row; false if the vector is wider than a row. */
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

  /** Offers `top` the cosine of every row whose facets are accepted. */
  scan(query: Float32Array, accepts: (facets: Facets) => boolean, top: TopMatches): void {
    const length = norm(query);
    this.#values.fill(0, 0, this.#width).set(query.subarray(0, this.#width));
    const scores = this.#values.subarray(this.#scoresAt, this.#rowsAt);
    const accepted = this.#facets.map(accepts);
    let threshold = top.threshold;
    for (let first = 0; first < this.size; first += SCORED_ROWS) {
      const count = Math.min(SCORED_ROWS, this.size - first);
      const start = this.#rowsAt + first * this.#width;
      this.#dots(0, 4 * start, count, 4 * this.#width, 4 * this.#scoresAt);
      for (let i = 0; i < count; i += 1) {
        const score = scores[i]! / length;
        if (score <= threshold || !accepted[this.#facetsOf[first + i]!]) continue;
        top.offer(this.#ids[first + i]!, score);
        threshold = top.threshold;
      }
    }
  }

  #append(id: string): number {
    const row = this.size;
    const end = this.#rowsAt + (row + 1) * this.#width;
    if (end > this.#values.length) {
      this.#memory.grow(Math.ceil((SLAB_ROWS * this.#width * 4) / PAGE_BYTES));
      this.#values = new Float32Array(this.#memory.buffer);
    }
    this.#ids.push(id);
    this.#rowOf.set(id, row);
    return row;
  }

  #valuesAt(row: number): Float32Array {
    const start = this.#rowsAt + row * this.#width;
    return this.#values.subarray(start, start + this.#width);
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

/** Returns the length of a vector; 1 for the zero vector, so that its cosine is 0. */
function norm(vector: Float32Array): number {
  return Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0)) || 1;
}
