import { namesIn, OVERVIEW_WORDS } from "../../../src/answer/extractive.ts";
import { contentWords } from "../../../src/search/query.ts";
import { isEnglishFunctionWord } from "../../../src/text/languages.ts";
import {
  type AnswerKind,
  KINDS_BY_NOUN,
  KINDS_BY_HOW,
  NAMED_REGIONS,
  PATTERNS,
} from "./answer-kinds.ts";
import type { Lexicon } from "./lexicon.ts";

/** Words of questions that name nothing specific. */
const GENERAL = new Set([
  ...OVERVIEW_WORDS,
  ...`anybody anyone can could does done everybody everyone get gets give given go goes got had
   having kept let lets made make makes many may might much must narrator nobody one ones
   people person put puts shall should somebody someone something speaker use used uses would`.split(
    /\s+/,
  ),
]);

/** Verbs of where something is, which the words of an image leave out. */
const POSITION_VERBS = new Set(
  `found hang hanging have kept left lie lies lying located placed see seen show shown sit sits sitting
   situated stand stands standing visible`.split(/\s+/),
);

/** A question in English, taken apart. */
export interface QuestionParts {
  kind: AnswerKind;
  /** Whether the answer is yes or no. */
  isPolar: boolean;
  /** Names the kind of thing that is asked for: "animal" of "which animal"; or null. */
  noun: string | null;
  /** What is counted, or has the colour: "horse" of "what colour is the horse"; or null. */
  subject: string | null;
  /** The main verb; null if there is none, or if that can't be told. */
  verb: string | null;
  /** Words that a sentence must have, or related ones. */
  terms: string[];
  /** Names and numbers, which must stand in the sentence as they are. */
  names: string[];
}

/** What is asked for: `words` of the question say so, and needn't stand in a sentence. */
interface Asked {
  kind: AnswerKind;
  noun: string | null;
  words: readonly string[];
}

const AUXILIARY =
  /^(?:is|are|was|were|be|been|do|does|did|has|have|had|can|could|will|would|should|may|might|must|shall)$/;
const NEGATION = /n['’]t\b/gu;
const GENITIVE = /['’]s?(?=\s|\p{P}|$)/gu;
const GENITIVE_END = /['’]s?$/;
const DO = /^(?:do|does|did|can|could|will|would|should|may|might|must|shall)$/;

/** Takes a question apart. Understands English only: in other languages `kind` is `any`. */
export function analyzeQuestion(question: string, lexicon: Lexicon): QuestionParts {
  const text = question.replaceAll(NEGATION, " not").replaceAll(GENITIVE, "");
  const lower = question.toLowerCase();
  const words = lower.match(/[\p{L}\p{M}\p{N}'’]+/gu) ?? [];
  const { kind, noun, words: asked } = findAsked(lower, lexicon);
  const names = namesIn(text);
  const stated = contentWords(text).filter((word) => !asked.includes(word));
  const terms = stated.filter(
    (word) => names.includes(word) || (!GENERAL.has(word) && !isEnglishFunctionWord(word)),
  );
  const found = findVerb(words, asked, lexicon);
  const isMain =
    found !== null && kind !== "topic" && kind !== "name" && !POSITION_VERBS.has(found);
  const verb = isMain ? found : null;
  return {
    kind,
    isPolar: kind === "any" && AUXILIARY.test(words[0] ?? ""),
    noun,
    subject:
      kind === "count" ? noun : kind === "colour" ? findSubject(words, asked, lexicon) : null,
    verb,
    terms: terms.length > 0 ? terms : stated,
    names,
  };
}

function findAsked(lower: string, lexicon: Lexicon): Asked {
  if (ASKS_NAME.test(lower))
    return { kind: "name", noun: "name", words: ["name", "called", "named"] };
  const how = /\bhow\s+(\p{L}+)(?:\s+(.*))?/u.exec(lower);
  if (how) return findAmount(lower, how[1]!, (how[2] ?? "").split(/[^\p{L}\p{N}'’-]+/u), lexicon);
  if (/\bwhose\b/.test(lower)) return { kind: "owner", noun: null, words: [] };
  const which = /\b(?:which|what)\s+(?:(?:kind|sort|type|number)s?\s+of\s+)?(\p{L}[\p{L}\s]*)/u;
  const [start = "", rest = ""] = which.exec(lower) ?? [];
  const phrase = headOf(rest.trim().split(/\s+/), lexicon);
  if (phrase) {
    const noun = phrase.at(-1)!;
    if (/\bnumber\s+of\b/.test(start)) return { kind: "count", noun, words: ["number"] };
    return { kind: kindOfNoun(noun, lexicon), noun, words: [...phrase, ...KIND_WORDS] };
  }
  if (/\b(?:what|how much)\b/.test(lower) && PAYS.test(lower)) {
    return { kind: "money", noun: null, words: [] };
  }
  const noun = /\b(?:what|which)\s+(?:is|are|was|were)\s+the\s+(\p{L}+)/u.exec(lower)?.[1];
  const kind = noun === undefined ? null : kindByNoun(noun);
  if (noun !== undefined && kind) return { kind, noun, words: [noun] };
  return { kind: kindByWord(lower), noun: null, words: [] };
}

const KIND_WORDS = ["kind", "kinds", "sort", "sorts", "type", "types"];
const ASKS_NAME = // bounded: LIMITS.queryCharacters
  /\bnames? of\b|\bwhat (?:is|are|was|were) .*\b(?:called|named)\b|\bwhat name/;
const PAYS = /\b(?:charged?|charges|costs?|fee|paid|pay|pays|priced?|worth)\b/;

const COMPARATIVE =
  /^(?:cheaper|earlier|faster|higher|larger|later|less|longer|more|older|sooner|taller)$/;

/** Finds what "how" and the next words ask for. */
function findAmount(
  lower: string,
  adjective: string,
  rest: readonly string[],
  lexicon: Lexicon,
): Asked {
  const words = [adjective];
  const next = rest[0] ?? "";
  if (adjective === "many") {
    const isMoney = PATTERNS.money!.test(`1 ${next}`);
    if (isMoney) return { kind: "money", noun: null, words: [adjective, next] };
    const isTime = /^(?:second|minute|hour|day|week|month|year)s$/.test(next);
    return isTime
      ? { kind: "duration", noun: null, words: [adjective, next] }
      : { kind: "count", noun: headOf(rest, lexicon)?.at(-1) ?? next, words };
  }
  if (adjective === "much" && next === "time") {
    return { kind: "duration", noun: null, words: [adjective, next] };
  }
  if (adjective === "much" && (COMPARATIVE.test(next) || /\bby how much\b/.test(lower))) {
    return { kind: "difference", noun: null, words: [adjective, next] };
  }
  if (adjective === "much" && PAYS.test(lower)) return { kind: "money", noun: null, words };
  if (/\bweighs?\b/.test(lower)) return { kind: "weight", noun: null, words };
  const kind = KINDS_BY_HOW[adjective];
  return kind ? { kind, noun: null, words } : { kind: "thing", noun: null, words: [] };
}

/** Asks for anything that is said of something. */
const ASKS_TOPIC = // bounded: LIMITS.queryCharacters
  /\b(?:heard|know|learn|said|says?|talk(?:ed|s)?|tells?|told)\b.*\b(?:about|of)\b|\bmention(?:ed|s)?\b/;
const KINDS_BY_WORD: Record<string, AnswerKind> = {
  who: "person",
  whom: "person",
  when: "time",
  where: "place",
  why: "reason",
  what: "thing",
  which: "thing",
};

function kindByWord(lower: string): AnswerKind {
  if (ASKS_TOPIC.test(lower)) return "topic";
  const word = /\b(?:who|whom|when|where|why|what|which)(?=\b|['’]s)/.exec(lower)?.[0];
  return word === undefined ? "any" : KINDS_BY_WORD[word]!;
}

function kindByNoun(noun: string): AnswerKind | null {
  const kinds = Object.entries(KINDS_BY_NOUN) as [AnswerKind, string][];
  return kinds.find(([, nouns]) => nouns.split(" ").includes(noun))?.[0] ?? null;
}

function kindOfNoun(noun: string, lexicon: Lexicon): AnswerKind {
  const kind = kindByNoun(noun);
  if (kind) return kind;
  if (NAMED_REGIONS.has(noun) || lexicon.isKindOf(noun, "location")) return "place";
  return lexicon.isKindOf(noun, "person") ? "person" : "thing";
}

/** Whether a word isn't a function word. */
const isContent = (word: string) => contentWords(`${word} x`).length === 2;

/** Words of the longest noun phrase: "famous side dish". */
const MAX_PHRASE = 3;

/** Returns the noun phrase that words begin with; null if they don't: "famous thing is kept". */
function headOf(words: readonly string[], lexicon: Lexicon): string[] | null {
  const phrase: string[] = [];
  for (const [i, word] of words.entries()) {
    const isNoun = lexicon.canBeNoun(word);
    const isPart = isNoun || lexicon.mainClass(word) === "adjective";
    if (AUXILIARY.test(word) || !isContent(word) || isEnglishFunctionWord(word) || !isPart) break;
    phrase.push(word);
    const next = words[i + 1] ?? "";
    const isEnd = lexicon.canBeVerb(next) && lexicon.mainClass(word) !== "adjective";
    if (isNoun && (isEnd || phrase.length === MAX_PHRASE)) break;
  }
  while (phrase.length > 0 && !lexicon.canBeNoun(phrase.at(-1)!)) phrase.pop();
  if (isVerbOf(words, lexicon)) return null;
  return phrase.length > 0 ? phrase : null;
}

/** Whether a word stands before a noun or an adjective: "the open fire", "in his mouth". */
const isBeforeNoun = (word: string) => DETERMINER.test(word) || PREPOSITION.test(word);

/** Whether words begin with a verb that could be a noun: "pulls a sledge". */
function isVerbOf([word = "", next = ""]: readonly string[], lexicon: Lexicon): boolean {
  if (!lexicon.canBeVerb(word) || AUXILIARY.test(next)) return false;
  if (lexicon.mainClass(word) === "verb") return true;
  return /(?:s|ed)$/.test(word) && !lexicon.canBeVerb(next) && lexicon.mainClass(next) !== "noun";
}

/** Finds "leave" in "when does the ferry leave", "drinks" in "who drinks coffee". */
function findVerb(
  words: readonly string[],
  asked: readonly string[],
  lexicon: Lexicon,
): string | null {
  const isVerb = (word: string, i: number, all: readonly string[]) => {
    const before = all[i - 1] ?? "";
    const isInPhrase = isBeforeNoun(before) || lexicon.mainClass(before) === "adjective";
    return !AUXILIARY.test(word) && isContent(word) && !isInPhrase && lexicon.canBeVerb(word);
  };
  const isMainlyVerb = (word: string, i: number, all: readonly string[]) =>
    isVerb(word, i, all) && lexicon.mainClass(word) === "verb";
  const at = words.findIndex((word) => AUXILIARY.test(word));
  if (at < 0) {
    return (
      words.find((word, i) => i > 0 && !asked.includes(word) && isVerb(word, i, words)) ?? null
    );
  }
  const rest = words.slice(at + 1);
  if (DO.test(words[at]!)) return rest.find(isMainlyVerb) ?? rest.find(isVerb) ?? null;
  const isParticiple = (word: string, i: number, all: readonly string[]) =>
    isMainlyVerb(word, i, all) ||
    (!isBeforeNoun(all[i - 1] ?? "") &&
      lexicon.canBeVerb(word) &&
      lexicon.mainClass(word) === "adjective");
  return (
    rest.find((word, i) => /(?:ed|ing|n|t)$/.test(word) && isParticiple(word, i, rest)) ?? null
  );
}

/** Articles, possessives and the like, which begin a noun phrase. */
export const DETERMINER =
  /^(?:the|an?|this|that|these|those|his|her|its|their|my|your|our|some|next|two|three)$/;

export const PREPOSITION =
  /^(?:about|at|behind|beside|by|for|from|in|into|of|on|onto|out|over|through|to|under|with)$/;

/** Returns the head of the first noun phrase: "boots" of "what colour are the girl's old boots". */
function findSubject(
  words: readonly string[],
  asked: readonly string[],
  lexicon: Lexicon,
): string | null {
  const at = words.findIndex((word) => AUXILIARY.test(word));
  const rest = words.slice(at + 1).filter((word) => !asked.includes(word));
  const isNoun = (word = "") =>
    isContent(word) &&
    !isEnglishFunctionWord(word) &&
    lexicon.canBeNoun(word.replace(GENITIVE_END, ""));
  return (
    rest.find((word, i) => {
      const next = rest[i + 1]?.replace(GENITIVE_END, "") ?? "";
      const isPossessive = GENITIVE_END.test(word) || lexicon.mainClass(word) === "adjective";
      const isModifier = isNoun(next) && (isPossessive || lexicon.mainClass(next) === "noun");
      return isNoun(word) && !isModifier;
    }) ?? null
  );
}
