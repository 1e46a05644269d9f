import type { Passage } from "./corpus.ts";

/** Segments on their way into a store, with their vectors: a row each, in the same order. */
export interface Batch {
  passages: Passage[];
  texts: Float32Array;
  pictures: Float32Array;
}

const COUNTS = 3;
const BYTES = Float32Array.BYTES_PER_ELEMENT;

/** As bytes: how long each part is (three 32-bit numbers), JSON up to a multiple of four, vectors. */
export function encodeBatch({ passages, texts, pictures }: Batch): Uint8Array<ArrayBuffer> {
  const json = new TextEncoder().encode(JSON.stringify(passages));
  const start = BYTES * COUNTS + Math.ceil(json.length / BYTES) * BYTES;
  const bytes = new Uint8Array(start + texts.byteLength + pictures.byteLength);
  new Uint32Array(bytes.buffer, 0, COUNTS).set([json.length, texts.length, pictures.length]);
  bytes.set(json, BYTES * COUNTS);
  new Float32Array(bytes.buffer, start, texts.length).set(texts);
  new Float32Array(bytes.buffer, start + texts.byteLength).set(pictures);
  return bytes;
}

/** What `encodeBatch` made. */
export function decodeBatch(bytes: ArrayBuffer): Batch {
  const [json = 0, texts = 0, pictures = 0] = new Uint32Array(bytes, 0, COUNTS);
  const text = new TextDecoder().decode(new Uint8Array(bytes, BYTES * COUNTS, json));
  const start = BYTES * COUNTS + Math.ceil(json / BYTES) * BYTES;
  const passages: Passage[] = JSON.parse(text);
  return {
    passages,
    texts: new Float32Array(bytes, start, texts),
    pictures: new Float32Array(bytes, start + BYTES * texts, pictures),
  };
}

/** The vectors of a batch, one a passage. */
export function rowsOf(vectors: Float32Array, rows: number): Float32Array[] {
  const width = vectors.length / rows;
  return Array.from({ length: rows }, (_, row) => vectors.subarray(row * width, (row + 1) * width));
}
