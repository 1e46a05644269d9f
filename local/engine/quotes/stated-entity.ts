import { isNumber, isTime } from "./answer-kinds.ts";
import type { Lexicon } from "./lexicon.ts";
import { DETERMINER, type QuestionParts } from "./question.ts";
import { endsPhrase, isName, isVerbless, type SentenceWord, isNounHere } from "./sentence.ts";

/** Places that are stated by name only. */
const NAMED_PLACE = /^(?:city|country|state|town|village)$/;

/** Tests whether a sentence states a place. Null if a text that isn't a sentence may name one. */
export function statesLocation(
  fresh: readonly SentenceWord[],
  words: readonly SentenceWord[],
  { noun }: QuestionParts,
  lexicon: Lexicon,
): boolean | null {
  const isNamed = noun !== null && NAMED_PLACE.test(noun);
  const isCased = words.some(isName);
  const places = findLocations(words, lexicon);
  const isStated = fresh.some((word) => {
    const { folded } = word;
    if (!places.has(word) || isTime(folded) || isNumber(folded)) return false;
    const at = words.indexOf(word);
    if (isName(word)) return isInLocation(at - 1, words) || isName(words[at - 1]!);
    return isNamed ? !isCased && !lexicon.has(folded) : lexicon.canBeNoun(folded);
  });
  const mayBeName = isVerbless(words, lexicon) && fresh.some(isName);
  return isStated || (mayBeName ? null : false);
}

/** Whether a name after a word is that of a place: "works in Boston". */
function isInLocation(at: number, words: readonly SentenceWord[]): boolean {
  const isElsewhere = LEADS_ELSEWHERE.test(words[at - 1]?.folded ?? "");
  return BEFORE_PLACE_NAME.test(words[at]?.folded ?? "") && !isElsewhere;
}
const BEFORE_PLACE_NAME =
  /^(?:across|around|at|from|in|inside|near|outside|through|to|toured|towards?)$/;

const IN_PLACE =
  /^(?:above|across|against|along|among|around|at|behind|below|beneath|beside|between|down|from|in|inside|into|near|off|on|onto|outside|over|past|through|to|toured|towards?|under|up|upon)$/;
/** Words after which "to", "in" and others lead to no place. */
const LEADS_ELSEWHERE = /^(?:married|until|belongs?|due|according|interested|afraid)$/;
/** Prepositions that never lead to a person. */
const INSIDE = /^(?:in|inside|into|on|onto|under)$/;
const PLACE_WORDS = 3;

/** Returns up to three words of the noun phrase after each preposition of place; no people. */
export function findLocations(words: readonly SentenceWord[], lexicon: Lexicon): Set<SentenceWord> {
  const places = new Set<SentenceWord>();
  for (const [i, { folded }] of words.entries()) {
    if (!IN_PLACE.test(folded) || LEADS_ELSEWHERE.test(words[i - 1]?.folded ?? "")) continue;
    const rest = words.slice(i + 1).filter((word) => !DETERMINER.test(word.folded));
    if (rest[0] && isNumber(rest[0].folded)) continue; // "at sixty miles an hour"
    const end = rest.findIndex((word, k) => k > 0 && endsPhrase(word, words, lexicon));
    const phrase = rest.slice(0, end < 0 ? PLACE_WORDS : Math.min(end, PLACE_WORDS));
    const head = phrase.at(-1);
    const isPerson = head && !isName(head) && lexicon.isKindOf(head.folded, "person");
    if (isPerson && !INSIDE.test(folded)) continue; // "from a cook"
    for (const word of phrase) places.add(word);
  }
  return places;
}

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

/** Whether a noun is what does or has something, person or not: "owned by a village". */
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
