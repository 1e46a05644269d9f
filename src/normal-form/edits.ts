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
