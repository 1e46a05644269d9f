import data from "./known-words.json" with { type: "json" };

/** Stems as a Bloom filter. */
interface StemFilter {
  /** Stems in the filter. */
  stems: number;
  /** Bits that each stem sets. */
  hashes: number;
  /** The bits in base64; their number is a multiple of 8. */
  bits: string;
}

/** Stems of English words, made by `npm run word-forms`. */
export interface KnownWordData {
  /** All words of a dictionary. */
  known: StemFilter;
  /** Those that are common in speech. */
  common: StemFilter;
}

const { known, common }: KnownWordData = data;
const decoded = new Map<StemFilter, Uint8Array>();

/** Tests whether a stem is that of an English word. True for one in a hundred other stems, too. */
export function isKnownStem(stem: string): boolean {
  return has(known, stem);
}

/** Tests whether a stem is that of a common English word, as `isKnownStem` does. */
export function isCommonStem(stem: string): boolean {
  return has(common, stem);
}

function has(filter: StemFilter, stem: string): boolean {
  const bits = decoded.get(filter) ?? Buffer.from(filter.bits, "base64");
  decoded.set(filter, bits);
  const [first, step] = hash(stem);
  for (let i = 0; i < filter.hashes; i++) {
    const bit = bitOf(first, step, i, 8 * bits.length);
    if ((bits[bit >> 3]! & (1 << (bit & 7))) === 0) return false;
  }
  return true;
}

/** Returns a Bloom filter of stems, with ten bits a stem. */
export function toStemFilter(stems: ReadonlySet<string>): StemFilter {
  const hashes = 7;
  const bits = new Uint8Array(Math.ceil((10 * stems.size) / 8));
  for (const stem of stems) {
    const [first, step] = hash(stem);
    for (let i = 0; i < hashes; i++) {
      const bit = bitOf(first, step, i, 8 * bits.length);
      bits[bit >> 3]! |= 1 << (bit & 7);
    }
  }
  return { stems: stems.size, hashes, bits: Buffer.from(bits).toString("base64") };
}

/** Two FNV-1a hashes of a stem. */
function hash(stem: string): [first: number, step: number] {
  return [fnv1a(stem, 0x811c9dc5), fnv1a(stem, 0x9747b28c) | 1];
}

/** A bit of a stem by double hashing (Kirsch and Mitzenmacher, 2008). */
function bitOf(first: number, step: number, i: number, size: number): number {
  return ((first + Math.imul(i, step)) >>> 0) % size;
}

function fnv1a(text: string, seed: number): number {
  let hash = seed;
  for (let at = 0; at < text.length; at++) {
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  }
  return hash >>> 0;
}
