import { stemmer } from "stemmer";
import { AMOUNTS, isColour, isNumber, isTime, PATTERNS, TIMES } from "./answer-kinds.ts";
import type { Lexicon } from "./lexicon.ts";
import type { QuestionParts } from "./question.ts";

/** A word of a sentence. */
export interface SentenceWord {
  text: string;
  /** In lower case, without diacritics and the ending of a genitive. */
  folded: string;
  /** Whether it is no function word, and related to none of the question's. */
  isNew: boolean;
}

/** Kinds of which only a noun that can be anything is known. */
const isUntyped = ({ kind }: QuestionParts) =>
  kind === "thing" || kind === "person" || kind === "place";

/** Whether the kind of the answer is one that a pattern recognises. */
export const isTyped = (question: QuestionParts) => !isUntyped(question) && question.kind !== "any";

/** Relations of words that name the same thing, and that may. */
const SAME = 0.65;
const RELATED = 0.5;

/**
 * Tests whether a sentence states what a question asks for: something of its kind that the question
 * doesn't say itself. Null if that can't be told.
 */
export function statesAnswer(
  words: readonly SentenceWord[],
  question: QuestionParts,
  lexicon: Lexicon,
): boolean | null {
  const { kind } = question;
  const sentence = words.map(({ text }) => text).join(" ");
  if (kind === "any") return null;
  if (kind === "count") return statesCount(words, question, lexicon);
  if (kind === "colour") return statesColour(words, question, lexicon);
  const pattern = PATTERNS[kind];
  if (kind === "measure") return pattern!.test(sentence.replaceAll(TIMES, ""));
  if (pattern) return pattern.test(sentence) || (kind === "time" && hasOccasion(words, lexicon));
  const topic = findTopic(words, question, lexicon);
  const places = findPlaces(words, lexicon);
  const isFresh = (word: SentenceWord) => word.isNew && !topic.has(word);
  const isPerson = (word: SentenceWord) => isFresh(word) && namesPerson(word, words, lexicon);
  if (kind === "person") return words.some(isPerson);
  const isPlaceName = (word: SentenceWord) => places.has(word) && isName(word);
  if (kind === "place") {
    const isStated = words.some(
      (word) =>
        isFresh(word) &&
        places.has(word) &&
        !isTime(word.folded) &&
        !isNumber(word.folded) &&
        (isName(word)
          ? isInPlace(words.indexOf(word) - 1, words) || isName(words[words.indexOf(word) - 1]!)
          : lexicon.canBeNoun(word.folded) && !lexicon.isKindOf(word.folded, "person")),
    );
    const mayBeName =
      isVerbless(words, lexicon) && words.some((word) => isFresh(word) && isName(word));
    return isStated || (mayBeName ? null : false);
  }
  const amounts = new Set(sentence.match(AMOUNTS)?.flatMap((text) => text.split(/\W+/)));
  const things = words.filter(
    (word) =>
      isFresh(word) &&
      isThing(word, words, lexicon) &&
      !amounts.has(word.text) &&
      !isPlaceName(word) &&
      !(isName(word) && isPerson(word)),
  );
  const others = words.filter((word) => !topic.has(word));
  if (namesKind(things, others, question, lexicon)) return true;
  if (isOtherKind(things, question, lexicon)) return false;
  return things.length > 0 ? null : false;
}

const isName = ({ text }: SentenceWord) => /^\p{Lu}/u.test(text);

/** Whether a word is a thing: a noun or a name, and neither a number nor a time. */
function isThing(word: SentenceWord, words: readonly SentenceWord[], lexicon: Lexicon): boolean {
  const { folded } = word;
  if (isNumber(folded) || isTime(folded)) return false;
  return isName(word) || !lexicon.has(folded) || isNounHere(word, words, lexicon);
}

/** Whether a word is a noun: also one that mostly isn't, after a verb, an adjective and so on. */
function isNounHere(word: SentenceWord, words: readonly SentenceWord[], lexicon: Lexicon): boolean {
  if (lexicon.mainClass(word.folded) === "noun") return true;
  if (!lexicon.canBeNoun(word.folded)) return false;
  const at = words.indexOf(word);
  if (lexicon.mainClass(words[at + 1]?.folded ?? "") === "noun") return false;
  const before = words[at - 1]?.folded ?? "";
  if (BEFORE_NOUN.test(before) || /^(?:of|with|for|by|in|on)$/.test(before)) return true;
  if (lexicon.mainClass(before) === "adjective") return true;
  return !ENDS_PHRASE.test(before) && lexicon.canBeVerb(before) && /(?:s|ed)$/.test(before);
}

/** Whether a thing is of the kind that is asked for, or a new word specifies it: "red bus". */
function namesKind(
  things: readonly SentenceWord[],
  words: readonly SentenceWord[],
  { noun }: QuestionParts,
  lexicon: Lexicon,
): boolean {
  if (noun === null || !lexicon.isSpecific(noun)) return false;
  if (things.some(({ folded }) => lexicon.isKindOf(folded, noun))) return true;
  return words.some(
    ({ folded, isNew }, i) =>
      !isNew && isSame(folded, noun, SAME, lexicon) && words[i - 1]?.isNew === true,
  );
}

/** Kinds of which the lexicon knows nearly all: what is none of them is something else. */
const KNOWN_KINDS = ["animal", "vehicle"];

function isOtherKind(
  things: readonly SentenceWord[],
  { noun }: QuestionParts,
  lexicon: Lexicon,
): boolean {
  if (noun === null || !KNOWN_KINDS.some((kind) => lexicon.isKindOf(noun, kind))) return false;
  return things.every((word) => !isName(word) && lexicon.has(word.folded));
}

function isSame(a: string, b: string, minRelation: number, lexicon: Lexicon): boolean {
  return stemmer(a) === stemmer(b) || lexicon.relation(a, b) >= minRelation;
}

const PEOPLE =
  /^(?:people|person|man|woman|men|women|boys?|girls?|child|children|kids?|someone|somebody|crowd|group)$/;

/** Whether a word is of a person: a noun, or a name that isn't that of a place or of a thing. */
function namesPerson(
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
    const isElsewhere = before?.folded === "the" || isInPlace(words.indexOf(before!), words);
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

/** Whether a name after a word is that of a place: "works in Boston". */
function isInPlace(at: number, words: readonly SentenceWord[]): boolean {
  const isElsewhere = LEADS_ELSEWHERE.test(words[at - 1]?.folded ?? "");
  return BEFORE_PLACE_NAME.test(words[at]?.folded ?? "") && !isElsewhere;
}
const BEFORE_PLACE_NAME =
  /^(?:across|around|at|from|in|inside|near|outside|through|to|toured|towards?)$/;

const IN_PLACE =
  /^(?:above|across|against|along|among|around|at|behind|below|beneath|beside|between|down|from|in|inside|into|near|off|on|onto|outside|over|past|through|to|toured|towards?|under|up|upon)$/;
/** Words after which "to", "in" and others lead to no place. */
const LEADS_ELSEWHERE = /^(?:married|until|belongs?|due|according|interested|afraid)$/;
const BEFORE_NOUN = /^(?:the|an?|his|her|their|its|some|next)$/;
const PLACE_WORDS = 3;

/** Returns up to three words of the noun phrase after each preposition of place; no people. */
function findPlaces(words: readonly SentenceWord[], lexicon: Lexicon): Set<SentenceWord> {
  const places = new Set<SentenceWord>();
  for (const [i, { folded }] of words.entries()) {
    if (!IN_PLACE.test(folded) || LEADS_ELSEWHERE.test(words[i - 1]?.folded ?? "")) continue;
    const rest = words.slice(i + 1).filter((word) => !BEFORE_NOUN.test(word.folded));
    if (rest[0] && isNumber(rest[0].folded)) continue; // "at sixty miles an hour"
    const end = rest.findIndex((word, k) => k > 0 && endsPhrase(word, words, lexicon));
    const phrase = rest.slice(0, end < 0 ? PLACE_WORDS : Math.min(end, PLACE_WORDS));
    const head = phrase.at(-1);
    if (head && !isName(head) && lexicon.isKindOf(head.folded, "person")) continue; // "from a cook"
    for (const word of phrase) places.add(word);
  }
  return places;
}

const ENDS_PHRASE = /^(?:is|are|was|were|has|have|had|for|and|by|with|from|that|who|which)$/;

/** Whether a word isn't part of the noun phrase before it: a verb, or "for", "and" and the like. */
function endsPhrase(word: SentenceWord, words: readonly SentenceWord[], lexicon: Lexicon): boolean {
  if (ENDS_PHRASE.test(word.folded)) return true;
  const isVerb = !isName(word) && lexicon.mainClass(word.folded) === "verb";
  return isVerb && !isNounHere(word, words, lexicon);
}

/**
 * Returns the words of the noun phrases around the names of a question: all of "the captain of the
 * ferry to Oban". They say what the sentence is about, and answer nothing.
 */
function findTopic(
  words: readonly SentenceWord[],
  { names }: QuestionParts,
  lexicon: Lexicon,
): Set<SentenceWord> {
  const stems = new Set(names.map((name) => stemmer(name)));
  const isNamed = ({ folded }: SentenceWord) => stems.has(stemmer(folded));
  const ends = (word: SentenceWord) => !isNamed(word) && endsPhrase(word, words, lexicon);
  const topic = new Set<SentenceWord>();
  for (const [i, word] of words.entries()) {
    if (!isNamed(word)) continue;
    const start = words.slice(0, i).findLastIndex(ends);
    for (const part of words.slice(start + 1, i + 1)) topic.add(part);
    const next = words[i + 1];
    if (next && !isName(next) && !ends(next)) topic.add(next);
  }
  return topic;
}

/** Whether a text is no sentence, such as the words of a poster. */
function isVerbless(words: readonly SentenceWord[], lexicon: Lexicon): boolean {
  return !words.some(({ folded }) => LINKS.test(folded) || lexicon.mainClass(folded) === "verb");
}

function hasOccasion(words: readonly SentenceWord[], lexicon: Lexicon): boolean {
  const kinds = ["celebration", "season", "ceremony"];
  return words.some(
    ({ folded, isNew }, i) =>
      isNew &&
      words
        .slice(Math.max(0, i - 2), i)
        .some((word) => /^(?:at|in|on|during)$/.test(word.folded)) &&
      kinds.some((kind) => lexicon.isKindOf(folded, kind)),
  );
}

/** Words after a number among which what is counted stands: "three small brown dogs". */
const COUNTED_WORDS = 3;

/** Tests whether a number stands before what is counted. Null if the sentence doesn't name that. */
function statesCount(
  words: readonly SentenceWord[],
  { subject }: QuestionParts,
  lexicon: Lexicon,
): boolean | null {
  const numbers = words.flatMap(({ folded }, i) => (isNumber(folded) ? [i] : []));
  if (numbers.length === 0) return false;
  const isSubject = ({ folded }: SentenceWord) =>
    subject !== null && isSame(folded, subject, RELATED, lexicon);
  if (!words.some(isSubject)) return null;
  return numbers.some((i) => {
    const counted = words.slice(i + 1, i + 1 + COUNTED_WORDS);
    const end = counted.findIndex((word) => !isSubject(word) && endsPhrase(word, words, lexicon));
    return counted.slice(0, end < 0 ? COUNTED_WORDS : end).some(isSubject);
  });
}

/** Words between a colour and its noun: "red and white striped shirt". */
const COLOUR_WORDS = 3;
const LINKS = /^(?:is|are|was|were|painted|dyed|coloured|colored)$/;

/** Tests whether a colour stands before what is asked about, or is said of it. */
function statesColour(
  words: readonly SentenceWord[],
  { subject }: QuestionParts,
  lexicon: Lexicon,
): boolean | null {
  const colours = words.flatMap(({ folded }, i) => (isColour(folded) ? [i] : []));
  if (colours.length === 0) return false;
  const link = words.findIndex(({ folded }) => LINKS.test(folded));
  const isNoun = (word?: SentenceWord) =>
    word !== undefined && !isColour(word.folded) && lexicon.mainClass(word.folded) === "noun";
  const isSaid = link >= 0 && colours.some((i) => i > link && !isNoun(words[i + 1]));
  const at = words.findIndex(
    ({ folded }) => subject !== null && isSame(folded, subject, SAME, lexicon),
  );
  if (at < 0) return isSaid ? null : false;
  const isOfSubject = (i: number) =>
    i < at &&
    at - i <= COLOUR_WORDS &&
    words
      .slice(i + 1, at)
      .every(
        (word) => isColour(word.folded) || word.folded === "and" || (!isNoun(word) && word.isNew),
      );
  return colours.some(isOfSubject) || (isSaid && at < link);
}
