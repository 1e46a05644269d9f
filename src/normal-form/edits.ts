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

/** Vowels by alphabet, which are taken for one another. */
const VOWELS = ["aeiou", "iy", "αεηιουω", "аеиоуыэюя"];
/** Spellings of one sound, or nearly one. */
const SOUNDS = [
  ["f", "ph"],
  ["k", "c", "ck", "q"],
  ["k", "ch"],
  ["s", "c", "z", "sc"],
  ["x", "ks", "xc"],
  ["t", "th"],
  ["r", "rh"],
  ["n", "kn"],
  ["w", "wh"],
  ["g", "gh", "j"],
  ["sh", "ch"],
  ["ie", "ei"],
  ["e", "ea", "ee"],
  ["a", "ai"],
  ["o", "ou", "oo"],
  ["u", "ou", "eu", "oe"],
  // Names from other scripts.
  ["tch", "ch", "c"],
  ["kh", "h", "ch"],
  ["q", "g", "k", "gh"],
  ["ye", "e", "ie"],
  ["y", "i", "iy", "ij"],
  ["dj", "j", "x"],
  ["v", "w"],
  ["sch", "sh", "ch"],
];
const SPELLINGS = new Map<string, string[]>();
for (const sounds of SOUNDS) {
  for (const sound of sounds) {
    SPELLINGS.set(sound, [
      ...(SPELLINGS.get(sound) ?? []),
      ...sounds.filter((one) => one !== sound),
    ]);
  }
}
const MAX_SOUND = 3;

/**
 * Returns the words that a folded word is often confused with: a letter doubled or not, another
 * vowel, neighbours in the other order, or another spelling of a sound, which may be two edits.
 */
export function confusions(word: string): string[] {
  const found = new Set<string>();
  for (let at = 0; at < word.length; at++) {
    const [before, letter, after] = [word.slice(0, at), word[at]!, word.slice(at + 1)];
    if (after[0] === letter) found.add(before + after);
    else found.add(before + letter + letter + after);
    if (after !== "") found.add(before + after[0]! + letter + after.slice(1));
    for (const vowels of VOWELS.filter((some) => some.includes(letter))) {
      for (const vowel of vowels) found.add(before + vowel + after);
    }
    for (let length = 1; length <= MAX_SOUND; length++) {
      for (const spelling of SPELLINGS.get(word.slice(at, at + length)) ?? []) {
        found.add(before + spelling + word.slice(at + length));
      }
    }
  }
  found.delete(word);
  return [...found];
}
