import { isNumber, isTime } from "./answer-kinds.ts";
import type { Lexicon } from "./lexicon.ts";
import type { QuestionParts } from "./question.ts";
import { BEFORE_NOUN, endsPhrase, isName, isVerbless, type SentenceWord } from "./sentence.ts";

/** Places that are stated by name only. */
const NAMED_PLACE = /^(?:city|country|state|town|village)$/;

/** Tests whether a sentence states a place. Null if a text that is no sentence may name one. */
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
export function isInLocation(at: number, words: readonly SentenceWord[]): boolean {
  const isElsewhere = LEADS_ELSEWHERE.test(words[at - 1]?.folded ?? "");
  return BEFORE_PLACE_NAME.test(words[at]?.folded ?? "") && !isElsewhere;
}
const BEFORE_PLACE_NAME =
  /^(?:across|around|at|from|in|inside|near|outside|through|to|toured|towards?)$/;

const IN_PLACE =
  /^(?:above|across|against|along|among|around|at|behind|below|beneath|beside|between|down|from|in|inside|into|near|off|on|onto|outside|over|past|through|to|toured|towards?|under|up|upon)$/;
/** Words after which "to", "in" and others lead to no place. */
export const LEADS_ELSEWHERE = /^(?:married|until|belongs?|due|according|interested|afraid)$/;
/** Prepositions that never lead to a person. */
const INSIDE = /^(?:in|inside|into|on|onto|under)$/;
const PLACE_WORDS = 3;

/** Returns up to three words of the noun phrase after each preposition of place; no people. */
export function findLocations(words: readonly SentenceWord[], lexicon: Lexicon): Set<SentenceWord> {
  const places = new Set<SentenceWord>();
  for (const [i, { folded }] of words.entries()) {
    if (!IN_PLACE.test(folded) || LEADS_ELSEWHERE.test(words[i - 1]?.folded ?? "")) continue;
    const rest = words.slice(i + 1).filter((word) => !BEFORE_NOUN.test(word.folded));
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
