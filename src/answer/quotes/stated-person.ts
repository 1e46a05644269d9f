import { isNumber, isTime } from "./answer-kinds.ts";
import type { Lexicon } from "./lexicon.ts";
import { isName, isNounHere, type SentenceWord } from "./sentence.ts";
import { isInLocation, LEADS_ELSEWHERE } from "./stated-location.ts";

const PEOPLE =
  /^(?:people|person|man|woman|men|women|boys?|girls?|child|children|kids?|someone|somebody|crowd|group)$/;

/** Whether a word is of a person: a noun, or a name that isn't that of a place or of a thing. */
export function namesPerson(
  word: SentenceWord,
  words: readonly SentenceWord[],
  lexicon: Lexicon,
): boolean {
  const { folded } = word;
  const at = words.indexOf(word);
  const before = words.slice(0, at).findLast((one) => !isName(one));
  const next = words[at + 1];
  if (isName(word) && at > 0) {
    const isModifier = next && !isName(next) && lexicon.mainClass(next.folded) === "noun";
    const isElsewhere = before?.folded === "the" || isInLocation(words.indexOf(before!), words);
    return !isTime(folded) && !isModifier && !isElsewhere;
  }
  if (isName(word) && !lexicon.has(folded)) return true;
  if (words.slice(Math.max(0, at - 2), at).some((one) => LARGE_NUMBER.test(one.folded)))
    return false;
  if (PEOPLE.test(folded)) return true;
  if (!isNounHere(word, words, lexicon)) return false;
  return lexicon.isKindOf(folded, "person") || isAgent(at, words);
}

/** Numbers before people whom nobody knows: "two hundred pupils", "thirty-one guests". */
const LARGE_NUMBER = /^(?:\d{2,}|hundreds?|thousands?|millions?|.*ty)$/;

/** Whether a noun is what does or has something, also if it is no person: "owned by a village". */
function isAgent(at: number, words: readonly SentenceWord[]): boolean {
  const start = words.slice(0, at).findLastIndex(({ folded }) => /^(?:by|to)$/.test(folded));
  const between = words.slice(start + 1, at);
  if (start < 0 || between.length > 2 || between.some(({ folded }) => isNumber(folded)))
    return false;
  return words[start]!.folded === "by" || LEADS_ELSEWHERE.test(words[start - 1]?.folded ?? "");
}

const NAMES = /^(?:baptised|called|christened|known|name|named|nicknamed|titled)$/;

/** Tests whether a sentence states a name: "is called Rani", "the captain is Ada Prewitt". */
export function statesName(
  fresh: readonly SentenceWord[],
  words: readonly SentenceWord[],
  lexicon: Lexicon,
): boolean {
  const names = words.findIndex(({ folded }) => NAMES.test(folded));
  return fresh.some((word) => {
    const at = words.indexOf(word);
    const isAfter = names >= 0 && at > names;
    return isAfter || (isName(word) && (at > 0 || !lexicon.has(word.folded)));
  });
}

/** Words between "of" and an owner: "belongs to a retired judge". */
const OWNER_WORDS = 3;

/** Tests whether a sentence states whose something is: "Anna's", "of a judge", "belongs to us". */
export function statesPossessor(
  fresh: readonly SentenceWord[],
  words: readonly SentenceWord[],
  lexicon: Lexicon,
): boolean {
  const isPronoun = words.some(({ folded }, i) => {
    return /^(?:her|his|my|our|their)$/.test(folded) && words[i + 1]?.isNew === false;
  });
  if (isPronoun) return true;
  return fresh.some((word) => {
    if (/['’]s?$/.test(word.text)) return true;
    const at = words.indexOf(word);
    if (isName(word) && words[at + 1]?.isNew === false) return true; // "the Wilsons' orchard"
    const before = words.slice(Math.max(0, at - OWNER_WORDS), at);
    const isOf = before.some(({ folded }) => /^(?:by|from|is|of|to)$/.test(folded));
    return isOf && namesPerson(word, words, lexicon);
  });
}
