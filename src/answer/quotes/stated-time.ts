import { PATTERNS } from "./answer-kinds.ts";
import type { Lexicon } from "./lexicon.ts";
import type { SentenceWord } from "./sentence.ts";

/** Nouns of what happens at a time: "at Easter", "in the rainy season". */
const OCCASIONS = ["celebration", "season", "ceremony"];
const BEFORE_TIME = /^(?:after|before|during|once|since|till|until|when|while)$/;
/** Words after "until" and the like among which the first noun stands. */
const CLAUSE_WORDS = 4;

/**
 * Tests whether a sentence states a time: a date, an hour, an occasion, or what happens before,
 * after or meanwhile. "Named after the nurse" is no time.
 */
export function statesTime(
  sentence: string,
  words: readonly SentenceWord[],
  lexicon: Lexicon,
): boolean {
  return (
    PATTERNS.time!.test(sentence) ||
    words.some((word, i) => isOccasion(word, words.slice(Math.max(0, i - 2), i), lexicon)) ||
    words.some(({ folded }, i) => {
      return BEFORE_TIME.test(folded) && leadsToEvent(words.slice(i + 1), lexicon);
    })
  );
}

function isOccasion(
  { folded, isNew }: SentenceWord,
  before: readonly SentenceWord[],
  lexicon: Lexicon,
): boolean {
  if (!isNew || !before.some((word) => /^(?:at|in|on|during)$/.test(word.folded))) return false;
  return OCCASIONS.some((kind) => lexicon.isKindOf(folded, kind));
}

/** Whether words say something that the question doesn't, and not merely a person. */
function leadsToEvent(words: readonly SentenceWord[], lexicon: Lexicon): boolean {
  const clause = words.slice(0, CLAUSE_WORDS);
  if (!clause.some(({ isNew }) => isNew)) return false;
  const noun = clause.find(({ folded }) => lexicon.canBeNoun(folded));
  const isPerson = noun !== undefined && lexicon.isKindOf(noun.folded, "person");
  const rest = noun ? clause.slice(clause.indexOf(noun) + 1) : clause;
  return !isPerson || rest.some(({ folded }) => lexicon.canBeVerb(folded));
}
