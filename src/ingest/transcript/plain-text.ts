const MAX_SENTENCE_CHARACTERS = 200;

const sentences = new Intl.Segmenter(undefined, { granularity: "sentence" });

/**
 * Splits a text into sentences, line by line, and sentences above `MAX_SENTENCE_CHARACTERS` between
 * words.
 */
export function splitSentences(text: string): string[] {
  // A line break ends a sentence (SB4). A call for each line would take far longer.
  return Array.from(sentences.segment(text), ({ segment }) => segment.trim())
    .flatMap(splitLongSentence)
    .filter(Boolean);
}

function splitLongSentence(sentence: string): string[] {
  if (sentence.length <= MAX_SENTENCE_CHARACTERS) return [sentence];
  const parts = [""];
  for (const word of sentence.split(/\s+/).flatMap(splitLongWord)) {
    const last = parts.length - 1;
    const extended = parts[last] === "" ? word : `${parts[last]} ${word}`;
    if (extended.length <= MAX_SENTENCE_CHARACTERS) parts[last] = extended;
    else parts.push(word);
  }
  return parts;
}

/** Splits a long word, as of a script without spaces, between its code points. */
function splitLongWord(word: string): string[] {
  if (word.length <= MAX_SENTENCE_CHARACTERS) return [word];
  const letters = Array.from(word);
  return Array.from({ length: Math.ceil(letters.length / MAX_SENTENCE_CHARACTERS) }, (_, i) =>
    letters.slice(i * MAX_SENTENCE_CHARACTERS, (i + 1) * MAX_SENTENCE_CHARACTERS).join(""),
  );
}
