const PAGE_BYTES = 65_536;
/** Values multiplied in one step of `vector-dots.wat`. */
const STRIDE = 8;

/** Exports of `vector-dots.wat`; offsets and widths are in bytes. */
interface Dots {
  memory: WebAssembly.Memory;
  dots: (query: number, row: number, count: number, width: number, scores: number) => void;
}

/** Makes an instance of `vector-dots.wasm`, with a memory of its own. */
export function openDots(module: WebAssembly.Module): Dots {
  return new WebAssembly.Instance(module).exports as unknown as Dots; // their types aren't known
}

/** Returns the values that a row takes in memory: padded to a multiple of what one step reads. */
export function paddedWidth(length: number): number {
  return Math.ceil(length / STRIDE) * STRIDE;
}

/** Multiplies vectors with rows of one length, in 32-bit numbers. */
export class DotProducts {
  readonly #dots: Dots;
  /** Length of a row in values, padded, and the number of rows. */
  #width = 0;
  #count = 0;

  /** @param module `vector-dots.wasm` */
  constructor(module: WebAssembly.Module) {
    this.#dots = openDots(module);
  }

  /** Replaces the rows. Each has `length` values. */
  load(rows: readonly Float32Array[], length: number): void {
    this.#width = paddedWidth(length);
    this.#count = rows.length;
    const bytes = 4 * (this.#width * (rows.length + 1) + rows.length);
    const { memory } = this.#dots;
    const missing = Math.ceil((bytes - memory.buffer.byteLength) / PAGE_BYTES);
    if (missing > 0) memory.grow(missing);
    const values = new Float32Array(memory.buffer);
    values.fill(0, 0, this.#width * (rows.length + 1));
    for (const [i, row] of rows.entries()) values.set(row, this.#width * (i + 1));
  }

  /** Returns the product with each row. The array holds until the next call. */
  with(vector: Float32Array): Float32Array {
    const values = new Float32Array(this.#dots.memory.buffer);
    values.set(vector, 0);
    const scoresAt = this.#width * (this.#count + 1);
    if (this.#width > 0) {
      this.#dots.dots(0, 4 * this.#width, this.#count, 4 * this.#width, 4 * scoresAt);
    }
    return values.subarray(scoresAt, scoresAt + this.#count);
  }
}

/** The instance of this isolate, once it is needed. */
let products: DotProducts | null = null;

/** Returns the instance of this isolate. Loads the WebAssembly module on first use. */
export async function loadDotProducts(): Promise<DotProducts> {
  products ??= new DotProducts((await import("./vector-dots.wasm")).default);
  return products;
}
