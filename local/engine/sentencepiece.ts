/** A SentencePiece vocabulary: pieces with log probabilities; the index is the id. */
export type Vocabulary = readonly (readonly [piece: string, score: number])[];

/** Control symbols at the start of the vocabulary. */
const RESERVED = 6;
const UNKNOWN = 0;
const SPACE = "\u2581";

/**
 * Tokenises text by SentencePiece's unigram language model (Kudo, 2018): the most probable
 * segmentation, found by the Viterbi algorithm. A run of characters that no piece covers becomes
 * one id 0. An empty text becomes one space, so that it has a vector too.
 */
export class UnigramTokenizer {
  readonly #ids = new Map<string, number>();
  readonly #scores: readonly number[];
  readonly #longest: number;

  constructor(vocabulary: Vocabulary) {
    let longest = 1;
    for (const [id, [piece]] of vocabulary.entries()) {
      if (id < RESERVED) continue;
      this.#ids.set(piece, id);
      longest = Math.max(longest, Array.from(piece).length);
    }
    this.#scores = vocabulary.map(([, score]) => score);
    this.#longest = longest;
  }

  encode(text: string): number[] {
    const symbols = Array.from(SPACE + text.normalize("NFKC").trim().replaceAll(/\s+/g, SPACE));
    const best = new Float64Array(symbols.length + 1).fill(-Infinity);
    const ids = new Int32Array(symbols.length + 1);
    const starts = new Int32Array(symbols.length + 1);
    best[0] = 0;
    for (let start = 0; start < symbols.length; start++) {
      const before = best[start] ?? -Infinity;
      let piece = "";
      for (let end = start + 1; end <= Math.min(symbols.length, start + this.#longest); end++) {
        piece += symbols[end - 1];
        const id = this.#ids.get(piece);
        if (id === undefined && end > start + 1) continue;
        // The score of unknown characters is worse than that of any piece.
        const score = before + (id === undefined ? -100 : (this.#scores[id] ?? 0));
        if (score <= (best[end] ?? -Infinity)) continue;
        best[end] = score;
        ids[end] = id ?? UNKNOWN;
        starts[end] = start;
      }
    }
    const path: number[] = [];
    for (let end = symbols.length; end > 0; end = starts[end] ?? 0) {
      const id = ids[end] ?? UNKNOWN;
      if (id !== UNKNOWN || path.at(-1) !== UNKNOWN) path.push(id);
    }
    return path.toReversed();
  }
}
