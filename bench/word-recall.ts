export interface WordRecall {
  /** Percent of the true words that were read. */
  recall: number;
  /** Percent of what was read that is true. */
  precision: number;
  words: number;
}

/** Words are compared as a bag, a page at a time, without case and punctuation. */
export function measureWords(pages: readonly { truth: string; read: string }[]): WordRecall {
  let [found, words, claimed] = [0, 0, 0];
  for (const { truth, read } of pages) {
    const wanted = wordsOf(truth);
    const left = wordsOf(read);
    words += wanted.length;
    claimed += left.length;
    for (const word of wanted) {
      const at = left.indexOf(word);
      if (at < 0) continue;
      left.splice(at, 1);
      found += 1;
    }
  }
  return { recall: percent(found, words), precision: percent(found, claimed), words };
}

export function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+(?:['’][\p{L}]+)?/gu) ?? [];
}

function percent(part: number, whole: number): number {
  return whole === 0 ? 100 : Math.round((1000 * part) / whole) / 10;
}
