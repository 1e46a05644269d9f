export interface WordRecall {
  /** Percent of the words on the pages that were recognised. */
  recall: number;
  /** Percent of the recognised words that are on the pages. */
  precision: number;
  wordCount: number;
}

/**
 * Measures word recall and precision of OCR. Compares words of each page as a multiset, ignoring
 * case and punctuation.
 */
export function measureWordRecall(
  pages: readonly { expected: string; recognized: string }[],
): WordRecall {
  let [matchedCount, wordCount, recognizedCount] = [0, 0, 0];
  for (const { expected, recognized } of pages) {
    const expectedWords = splitWords(expected);
    const remaining = splitWords(recognized);
    wordCount += expectedWords.length;
    recognizedCount += remaining.length;
    for (const word of expectedWords) {
      const at = remaining.indexOf(word);
      if (at < 0) continue;
      remaining.splice(at, 1);
      matchedCount += 1;
    }
  }
  return {
    recall: percent(matchedCount, wordCount),
    precision: percent(matchedCount, recognizedCount),
    wordCount,
  };
}

export function splitWords(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+(?:['’][\p{L}]+)?/gu) ?? [];
}

function percent(part: number, whole: number): number {
  return whole === 0 ? 100 : Math.round((1000 * part) / whole) / 10;
}
