import data from "./known-words.json" with { type: "json" };

/** Stems of English words as a Bloom filter, made by `npm run word-forms`. */
export interface KnownWordData {
  /** Words in the filter. */
  words: number;
  /** Bits that each word sets. */
  hashes: number;
  /** The bits in base64; their number is a multiple of 8. */
  bits: string;
}

let bits: Uint8Array | null = null;

/** Tests whether a stem is that of an English word. True for one in a hundred other stems, too. */
export function isKnownStem(stem: string): boolean {
  const { hashes }: KnownWordData = data;
  const filter = (bits ??= Buffer.from(data.bits, "base64"));
  return bitsOf(stem, hashes, 8 * filter.length).every(
    (bit) => (filter[bit >> 3]! & (1 << (bit & 7))) !== 0,
  );
}

/** Returns a Bloom filter of stems, with ten bits a stem. */
export function toKnownWordData(stems: ReadonlySet<string>): KnownWordData {
  const hashes = 7;
  const filter = new Uint8Array(Math.ceil((10 * stems.size) / 8));
  for (const stem of stems) {
    for (const bit of bitsOf(stem, hashes, 8 * filter.length)) filter[bit >> 3]! |= 1 << (bit & 7);
  }
  return { words: stems.size, hashes, bits: Buffer.from(filter).toString("base64") };
}

/** Bits of a stem by double hashing (Kirsch and Mitzenmacher, 2008) of two FNV-1a hashes. */
function bitsOf(stem: string, hashes: number, size: number): number[] {
  const [first, step] = [fnv1a(stem, 0x811c9dc5), fnv1a(stem, 0x9747b28c) | 1];
  return Array.from({ length: hashes }, (_, i) => ((first + Math.imul(i, step)) >>> 0) % size);
}

function fnv1a(text: string, seed: number): number {
  let hash = seed;
  for (let at = 0; at < text.length; at++) {
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  }
  return hash >>> 0;
}
