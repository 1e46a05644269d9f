import { stemmer } from "stemmer";
import { nounsIn, SINGLE_WORD, type Synset } from "./wordnet.ts";

/** Shorter words have too many that sound alike. */
const MIN_LETTERS = 4;

/** British endings and letters, and the American ones. */
const SPELLINGS: readonly (readonly [british: RegExp, american: string])[] = [
  [/our/, "or"],
  [/tre$/, "ter"],
  [/is(?=e$|ation$|er$)/, "iz"],
  [/yse$/, "yze"],
  [/ae/, "e"],
  [/oe/, "e"],
  [/ogue$/, "og"],
  [/ence$/, "ense"],
  [/ough$/, "ow"],
  [/yre$/, "ire"],
  [/ey$/, "ay"],
  [/ould/, "old"],
  [/ium$/, "um"],
  [/ellery$/, "elry"],
  [/pyj/, "paj"],
  [/que$/, "ck"],
  [/gramme$/, "gram"],
  [/ll/, "l"],
  [/ph/, "f"],
];

/** Maps stems of British spellings to American words of the same meaning. */
export function spellings(
  synsets: ReadonlyMap<string, Synset>,
  irregular: ReadonlyMap<string, string>,
  ranks: ReadonlyMap<string, number>,
): Map<string, string> {
  const byStem = new Map<string, string>();
  for (const { words } of synsets.values()) {
    for (const british of words) {
      if (!SINGLE_WORD.test(british)) continue;
      for (const [pattern, replacement] of SPELLINGS) {
        const american = british.replace(pattern, replacement);
        const isOther = american !== british && stemmer(american) !== stemmer(british);
        if (isOther && words.includes(american) && !irregular.has(british)) {
          byStem.set(stemmer(british), american);
        }
      }
    }
  }
  for (const [rare, frequent] of homophones(synsets, ranks)) {
    const isFree = ![rare, frequent].some(
      (word) => irregular.has(word) || byStem.has(stemmer(word)),
    );
    if (isFree) byStem.set(stemmer(rare), frequent);
  }
  for (const [stem, word] of byStem) if (byStem.has(stemmer(word))) byStem.delete(stem);
  return byStem;
}

/**
 * Maps nouns to more frequent ones that sound alike and mean all that they mean: "kerb" to "curb",
 * "doughnut" to "donut".
 */
function homophones(
  synsets: ReadonlyMap<string, Synset>,
  ranks: ReadonlyMap<string, number>,
): Map<string, string> {
  const nouns = new Set(nounsIn(synsets));
  const meanings = new Map<string, Synset[]>();
  for (const synset of synsets.values()) {
    for (const word of synset.words) meanings.set(word, [...(meanings.get(word) ?? []), synset]);
  }
  const known = [...meanings.keys()].filter((word) => SINGLE_WORD.test(word) && ranks.has(word));
  const byStem = Map.groupBy(known, (word) => stemmer(word));
  const found = new Map<string, string>();
  for (const [stem, [word, ...others]] of byStem) {
    if (!nouns.has(word!) || others.length > 0 || word!.length < MIN_LETTERS) continue;
    const rank = ranks.get(word!)!;
    const own = meanings.get(word!)!;
    const [best] = own[0]!.words
      .filter((other) => {
        const isBetter = nouns.has(other) && (ranks.get(other) ?? Infinity) < rank;
        const isSame = isBetter && stemmer(other) !== stem && soundOf(other) === soundOf(word!);
        return isSame && own.every(({ words }) => words.includes(other));
      })
      .toSorted((a, b) => ranks.get(a)! - ranks.get(b)!);
    if (best !== undefined) found.set(word!, best);
  }
  return found;
}

/** Returns the consonants of a word as they sound, and how many groups of vowels it has. */
function soundOf(word: string): string {
  const consonants = word
    .replaceAll(/ph/g, "f")
    .replaceAll(/gh(?=[aeiou])/g, "g")
    .replaceAll("gh", "")
    .replaceAll(/c(?=[eiy])/g, "s")
    .replaceAll(/ck|qu|c|q/g, "k")
    .replaceAll("z", "s")
    .replaceAll("h", "");
  const skeleton = consonants.replaceAll(/[aeiouyw]/g, "").replaceAll(/(.)\1+/g, "$1");
  const first = /^[aeiouyw]/.test(word) ? "-" : "";
  const groups = word.replace(/e$/, "").match(/[aeiouy]+/g)?.length ?? 0;
  return `${first}${skeleton}${groups}`;
}
