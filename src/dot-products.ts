const PAGE_BYTES = 65_536;
/** Values multiplied in one step of `vector-dots.wat`; rows are padded to a multiple. */
const STRIDE = 8;

/** Exports of `vector-dots.wat`; offsets and widths are in bytes. */
export interface Dots {
  memory: WebAssembly.Memory;
  dots: (query: number, row: number, count: number, width: number, scores: number) => void;
}

/** Multiplies vectors with rows of one length, in 32-bit numbers. */
export class DotProducts {
  readonly #dots: Dots["dots"];
  readonly #memory: WebAssembly.Memory;
  /** Length of a row in values, padded, and the number of rows. */
  #width = 0;
  #count = 0;

  /** @param module `vector-dots.wasm` */
  constructor(module: WebAssembly.Module) {
    const { memory, dots } = new WebAssembly.Instance(module).exports as unknown as Dots;
    this.#memory = memory;
    this.#dots = dots;
  }

  /** Replaces the rows. Each has `length` values. */
  load(rows: readonly Float32Array[], length: number): void {
    this.#width = Math.ceil(length / STRIDE) * STRIDE;
    this.#count = rows.length;
    const bytes = 4 * (this.#width * (rows.length + 1) + rows.length);
    const missing = Math.ceil((bytes - this.#memory.buffer.byteLength) / PAGE_BYTES);
    if (missing > 0) this.#memory.grow(missing);
    const values = new Float32Array(this.#memory.buffer);
    values.fill(0, 0, this.#width * (rows.length + 1));
    for (const [i, row] of rows.entries()) values.set(row, this.#width * (i + 1));
  }

  /** Returns the product with each row. The array holds until the next call. */
  with(vector: Float32Array): Float32Array {
    const values = new Float32Array(this.#memory.buffer);
    values.set(vector, 0);
    const scoresAt = this.#width * (this.#count + 1);
    if (this.#width > 0) {
      this.#dots(0, 4 * this.#width, this.#count, 4 * this.#width, 4 * scoresAt);
    }
    return values.subarray(scoresAt, scoresAt + this.#count);
  }
}

/** Products of this isolate, once they are needed. */
let products: DotProducts | null = null;

/** Loads what multiplies vectors. */
export async function loadDotProducts(): Promise<DotProducts> {
  products ??= new DotProducts((await import("./vector-dots.wasm")).default);
  return products;
}
