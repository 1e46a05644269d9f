/** What a sentence without an end is cut into. */
const LONGEST = 200;

const sentences = new Intl.Segmenter(undefined, { granularity: "sentence" });

/** A text as its sentences, each line for itself; what is longer than 200 characters is cut between words. */
export function sentencesOf(text: string): string[] {
  return text
    .split(/[\r\n]+/)
    .filter((line) => /\S/.test(line))
    .flatMap((line) => Array.from(sentences.segment(line), ({ segment }) => segment.trim()))
    .flatMap(cutLong)
    .filter(Boolean);
}

function cutLong(sentence: string): string[] {
  if (sentence.length <= LONGEST) return [sentence];
  const pieces = [""];
  for (const word of sentence.split(/\s+/).flatMap(cutWord)) {
    const last = pieces.length - 1;
    const longer = pieces[last] === "" ? word : `${pieces[last]} ${word}`;
    if (longer.length <= LONGEST) pieces[last] = longer;
    else pieces.push(word);
  }
  return pieces;
}

/** Scripts without spaces have long words. */
function cutWord(word: string): string[] {
  if (word.length <= LONGEST) return [word];
  const letters = Array.from(word);
  return Array.from({ length: Math.ceil(letters.length / LONGEST) }, (_, i) =>
    letters.slice(i * LONGEST, (i + 1) * LONGEST).join(""),
  );
}
