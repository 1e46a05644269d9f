import { numberForms } from "../claim-numbers.ts";
import { isColour, isNumber } from "./answer-kinds.ts";
import type { Lexicon } from "./lexicon.ts";
import type { QuestionParts } from "./question.ts";
import { endsPhrase, isRelated, LINKS, RELATION, type SentenceWord } from "./sentence.ts";

const YEAR = /^(?:1\d|20)\d\d$/;
/** Words after a number among which what is counted stands: "three small brown dogs". */
const COUNTED_WORDS = 3;

/** Tests whether a number stands before what is counted. Null if the sentence doesn't name that. */
export function statesCount(
  words: readonly SentenceWord[],
  { subject }: QuestionParts,
  lexicon: Lexicon,
): boolean | null {
  const numbers = words.flatMap(({ folded }, i) =>
    isNumber(folded) && !YEAR.test(folded) ? [i] : [],
  );
  if (numbers.length === 0) return false;
  const isSubject = ({ folded }: SentenceWord) =>
    subject !== null && isRelated(folded, subject, RELATION.possible, lexicon);
  if (!words.some(isSubject)) return null;
  return numbers.some((i) => {
    const counted = words.slice(i + 1, i + 1 + COUNTED_WORDS);
    const end = counted.findIndex((word) => !isSubject(word) && endsPhrase(word, words, lexicon));
    return counted.slice(0, end < 0 ? COUNTED_WORDS : end).some(isSubject);
  });
}

/** Tests whether a caption has the number of objects of the subject's label, if there are any. */
export function agreesWithLabels(
  caption: string,
  labels: readonly string[],
  { kind, subject }: QuestionParts,
  lexicon: Lexicon,
): boolean {
  if (kind !== "count" || subject === null) return true;
  const detected = labels.filter((label) =>
    isRelated(label, subject, RELATION.possible, lexicon),
  ).length;
  const numbers = numberForms(caption);
  return detected === 0 || numbers.size === 0 || numbers.has(String(detected));
}

/** Words between a colour and its noun: "red and white striped shirt". */
const COLOUR_WORDS = 3;

/**
 * Tests whether a colour stands before what is asked about, is said of it ("the shirt is red"), or
 * is what it becomes ("paints the door of her cottage blue").
 */
export function statesColour(
  words: readonly SentenceWord[],
  { subject, verb }: QuestionParts,
  lexicon: Lexicon,
): boolean | null {
  const colours = words.flatMap(({ folded }, i) => (isColour(folded) ? [i] : []));
  if (colours.length === 0) return false;
  const link = words.findIndex(({ folded }) => LINKS.test(folded));
  const isNoun = (word?: SentenceWord) =>
    word !== undefined && !isColour(word.folded) && lexicon.mainClass(word.folded) === "noun";
  const isSaid = link >= 0 && colours.some((i) => i > link && !isNoun(words[i + 1]));
  const last = words.findLastIndex(({ isNew }) => !isNew);
  if (verb !== null && colours.some((i) => i > last && !isNoun(words[i + 1]))) return true;
  const at = words.findIndex(
    ({ folded }) => subject !== null && isRelated(folded, subject, RELATION.same, lexicon),
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
