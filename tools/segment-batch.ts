/** Segments of a generated video; each lasts five seconds. */
export const VIDEO_SEGMENTS = 20;

/** Text fields of a segment. */
export interface SegmentFields {
  segmentId: string;
  assetId: string;
  /** Position in its video, from 0. */
  position: number;
  caption: string;
  transcript: string;
  onScreenText: string;
  /** What a detector finds in its image; its caption only lists that. */
  labels?: readonly string[];
}

/**
 * Segments with their vectors, on the way into a store. Row i of each vector matrix belongs to
 * segment i.
 */
export interface SegmentBatch {
  segments: SegmentFields[];
  textVectors: Float32Array;
  imageVectors: Float32Array;
}

const HEADER_NUMBERS = 3;
const NUMBER_BYTES = Float32Array.BYTES_PER_ELEMENT;

/**
 * Encodes a batch: three 32-bit lengths (JSON bytes, numbers of both matrices), JSON padded to a
 * multiple of four bytes, then the matrices.
 */
export function encodeBatch({
  segments,
  textVectors,
  imageVectors,
}: SegmentBatch): Uint8Array<ArrayBuffer> {
  const json = new TextEncoder().encode(JSON.stringify(segments));
  const start =
    NUMBER_BYTES * HEADER_NUMBERS + Math.ceil(json.length / NUMBER_BYTES) * NUMBER_BYTES;
  const bytes = new Uint8Array(start + textVectors.byteLength + imageVectors.byteLength);
  new Uint32Array(bytes.buffer, 0, HEADER_NUMBERS).set([
    json.length,
    textVectors.length,
    imageVectors.length,
  ]);
  bytes.set(json, NUMBER_BYTES * HEADER_NUMBERS);
  new Float32Array(bytes.buffer, start, textVectors.length).set(textVectors);
  new Float32Array(bytes.buffer, start + textVectors.byteLength).set(imageVectors);
  return bytes;
}

/** Decodes the output of `encodeBatch`. */
export function decodeBatch(bytes: ArrayBuffer): SegmentBatch {
  const [jsonBytes = 0, textNumbers = 0, imageNumbers = 0] = new Uint32Array(
    bytes,
    0,
    HEADER_NUMBERS,
  );
  const text = new TextDecoder().decode(
    new Uint8Array(bytes, NUMBER_BYTES * HEADER_NUMBERS, jsonBytes),
  );
  const start = NUMBER_BYTES * HEADER_NUMBERS + Math.ceil(jsonBytes / NUMBER_BYTES) * NUMBER_BYTES;
  const segments: SegmentFields[] = JSON.parse(text);
  return {
    segments,
    textVectors: new Float32Array(bytes, start, textNumbers),
    imageVectors: new Float32Array(bytes, start + NUMBER_BYTES * textNumbers, imageNumbers),
  };
}

/** Splits a matrix into `rows` vectors. */
export function splitRows(vectors: Float32Array, rows: number): Float32Array[] {
  const width = vectors.length / rows;
  return Array.from({ length: rows }, (_, row) => vectors.subarray(row * width, (row + 1) * width));
}

/** Returns the id of a generated segment or video by its number. */
export function syntheticId(prefix: "seg" | "vid", at: number): string {
  return `${prefix}_${String(at).padStart(26, "0")}`;
}
