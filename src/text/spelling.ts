import data from "./known-words.json" with { type: "json" };

/** Stems of English words as a Bloom filter, made by `npm run word-forms`. */
export interface StemFilter {
  /** Stems in the filter. */
  stems: number;
  /** Bits that each stem sets. */
  hashes: number;
  /** The bits in base64; their number is a multiple of 8. */
  bits: string;
}

const { hashes, bits: encoded }: StemFilter = data;
let decoded: Uint8Array | null = null;

/** Tests whether a stem is that of an English word. True for one in a hundred other stems, too. */
export function isKnownStem(stem: string): boolean {
  const bits = (decoded ??= Buffer.from(encoded, "base64"));
  return bitsOf(stem, hashes, 8 * bits.length).every((bit) => bits[bit >> 3]! & (1 << (bit & 7)));
}

/** Returns the bits of a stem by double hashing (Kirsch and Mitzenmacher, 2008). */
export function bitsOf(stem: string, count: number, size: number): number[] {
  const [first, step] = [fnv1a(stem, 0x811c9dc5), fnv1a(stem, 0x9747b28c) | 1];
  return Array.from({ length: count }, (_, i) => ((first + Math.imul(i, step)) >>> 0) % size);
}

function fnv1a(text: string, seed: number): number {
  let hash = seed;
  for (let at = 0; at < text.length; at++) {
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  }
  return hash >>> 0;
}

/** Letters by alphabet, folded. A word of other letters has no edits. */
const ALPHABETS = [
  "abcdefghijklmnopqrstuvwxyz",
  "αβγδεζηθικλμνξοπρστυφχψω",
  "абвгдежзийклмнопрстуфхцчшщъыьэюяіїєґ",
  "אבגדהוזחטיכלמנסעפצקרשתךםןףץ",
];

/**
 * Returns the words that one edit makes of a folded word: a letter that is left out, added or
 * another, or two neighbours in the other order (Damerau, "A technique for computer detection and
 * correction of spelling errors", 1964). The first ones have the same first letter.
 */
export function edits(word: string): string[] {
  const alphabet = ALPHABETS.find((letters) =>
    Array.from(word).every((one) => letters.includes(one)),
  );
  if (alphabet === undefined) return [];
  const edited = new Set<string>();
  for (let at = word.length; at >= 0; at--) {
    const [before, after] = [word.slice(0, at), word.slice(at)];
    for (const letter of alphabet) edited.add(before + letter + after);
    if (after === "") continue;
    edited.add(before + after.slice(1));
    for (const letter of alphabet) edited.add(before + letter + after.slice(1));
    if (after.length > 1) edited.add(before + after[1]! + after[0]! + after.slice(2));
  }
  edited.delete(word);
  return [...edited];
}
