import { contentWords, uniqueWords } from "../../search/query.ts";
import { type AnswerKind, KINDS_BY_NOUN, KINDS_BY_HOW, NAMED_REGIONS } from "./answer-kinds.ts";
import type { Lexicon } from "./lexicon.ts";

/** A question in English, taken apart. */
export interface QuestionParts {
  kind: AnswerKind;
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

/** Words of questions that name nothing specific. */
const GENERAL = new Set(
  `about anybody anyone can content could describe does done everybody everyone explain get gets give
   given go goes going got had happen happened happening happens having here kept let lets look made
   make makes many may might much must nobody one ones overview part people person put puts said say
   saying says scene see seen shall should show shown shows somebody someone something story summarise
   summarize summary take talk talked talking talks tell tells thing things use used uses video videos
   watch would`.split(/\s+/),
);
const AUXILIARY =
  /^(?:is|are|was|were|be|been|do|does|did|has|have|had|can|could|will|would|should|may|might|must|shall)$/;
const DO = /^(?:do|does|did|can|could|will|would|should|may|might|must|shall)$/;

/** Takes a question apart. Understands English only: in other languages `kind` is `any`. */
export function analyzeQuestion(text: string, lexicon: Lexicon): QuestionParts {
  const lower = text.toLowerCase();
  const words = lower.match(/[\p{L}\p{M}\p{N}'’]+/gu) ?? [];
  const { kind, noun, words: asked } = findAsked(lower, lexicon);
  const names = namesIn(text);
  const stated = contentWords(text).filter((word) => !asked.includes(word));
  const terms = stated.filter((word) => names.includes(word) || !GENERAL.has(word));
  return {
    kind,
    noun,
    subject:
      kind === "count" ? noun : kind === "colour" ? findSubject(words, asked, lexicon) : null,
    verb: findVerb(words, asked, lexicon),
    terms: terms.length > 0 ? terms : stated,
    names,
  };
}

function findAsked(lower: string, lexicon: Lexicon): Asked {
  const how = /\bhow\s+(\p{L}+)(?:\s+(\p{L}+))?/u.exec(lower);
  if (how) return findAmount(lower, how[1]!, how[2] ?? "");
  const which =
    /\b(?:which|what|whose)\s+(?:(?:kind|sort|type|number)s?\s+of\s+)?((?:\p{L}+\s*)+)/u;
  const [start = "", rest = ""] = which.exec(lower) ?? [];
  const phrase = start.startsWith("whose") ? null : headOf(rest.trim().split(/\s+/), lexicon);
  if (phrase) {
    const noun = phrase.at(-1)!;
    if (/\bnumber\s+of\b/.test(start)) return { kind: "count", noun, words: ["number"] };
    return { kind: kindOfNoun(noun, lexicon), noun, words: phrase };
  }
  if (/\b(?:what|how much)\b/.test(lower) && PAYS.test(lower)) {
    return { kind: "money", noun: null, words: [] };
  }
  const noun = /\b(?:what|which)\s+(?:is|are|was|were)\s+the\s+(\p{L}+)/u.exec(lower)?.[1];
  const kind = noun === undefined ? null : kindByNoun(noun);
  if (noun !== undefined && kind) return { kind, noun, words: [noun] };
  return { kind: kindByWord(lower), noun: null, words: [] };
}

const PAYS = /\b(?:charged?|charges|costs?|fee|paid|pay|pays|priced?|worth)\b/;

/** Finds what "how" and the next words ask for. */
function findAmount(lower: string, adjective: string, next: string): Asked {
  const words = [adjective];
  if (adjective === "many") {
    const isTime = /^(?:second|minute|hour|day|week|month|year)s$/.test(next);
    return isTime
      ? { kind: "duration", noun: null, words: [adjective, next] }
      : { kind: "count", noun: next, words };
  }
  if (adjective === "much" && next === "time") {
    return { kind: "duration", noun: null, words: [adjective, next] };
  }
  if (adjective === "much" && PAYS.test(lower)) return { kind: "money", noun: null, words };
  if (/\bweighs?\b/.test(lower)) return { kind: "weight", noun: null, words };
  const kind = KINDS_BY_HOW[adjective];
  return kind ? { kind, noun: null, words } : { kind: "thing", noun: null, words: [] };
}

const KIND_WORDS: readonly (readonly [AnswerKind, RegExp])[] = [
  ["any", /\b(?:what|anything|something)\b.*\b(?:about|mentioned)\b/],
  ["person", /\b(?:who|whom|whose)\b/],
  ["time", /\bwhen\b/],
  ["place", /\bwhere\b/],
  ["reason", /\bwhy\b/],
  ["thing", /\b(?:what|which)\b/],
];

function kindByWord(lower: string): AnswerKind {
  return KIND_WORDS.find(([, pattern]) => pattern.test(lower))?.[0] ?? "any";
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

/** Whether a word is no function word. */
const isContent = (word: string) => contentWords(`${word} x`).length === 2;

/** Words of the longest noun phrase: "famous side dish". */
const MAX_PHRASE = 3;

/** Returns the noun phrase that words begin with; null if they don't: "famous thing is kept". */
function headOf(words: readonly string[], lexicon: Lexicon): string[] | null {
  const phrase: string[] = [];
  for (const [i, word] of words.entries()) {
    const isNoun = lexicon.canBeNoun(word);
    const isPart = isNoun || lexicon.mainClass(word) === "adjective";
    if (AUXILIARY.test(word) || !isContent(word) || !isPart) break;
    phrase.push(word);
    const next = words[i + 1] ?? "";
    if (isNoun && (lexicon.canBeVerb(next) || phrase.length === MAX_PHRASE)) break;
  }
  while (phrase.length > 0 && !lexicon.canBeNoun(phrase.at(-1)!)) phrase.pop();
  return phrase.length > 0 ? phrase : null;
}

/** Finds "leave" in "when does the ferry leave", "drinks" in "who drinks coffee". */
function findVerb(
  words: readonly string[],
  asked: readonly string[],
  lexicon: Lexicon,
): string | null {
  const isVerb = (word: string) =>
    !AUXILIARY.test(word) && isContent(word) && lexicon.canBeVerb(word);
  const isMainlyVerb = (word: string) => isVerb(word) && lexicon.mainClass(word) === "verb";
  const at = words.findIndex((word) => AUXILIARY.test(word));
  if (at < 0) return words.slice(1).find((word) => !asked.includes(word) && isVerb(word)) ?? null;
  const rest = words.slice(at + 1);
  if (DO.test(words[at]!)) return rest.findLast(isMainlyVerb) ?? rest.findLast(isVerb) ?? null;
  const isParticiple = (word: string) =>
    isMainlyVerb(word) || (isVerb(word) && lexicon.mainClass(word) === "adjective");
  return rest.findLast((word) => /(?:ed|ing|n|t)$/.test(word) && isParticiple(word)) ?? null;
}

/** Returns the noun after the verb: "horse" of "what colour is the brown horse". */
function findSubject(
  words: readonly string[],
  asked: readonly string[],
  lexicon: Lexicon,
): string | null {
  const at = words.findIndex((word) => AUXILIARY.test(word));
  const rest = words.slice(at + 1).filter((word) => !asked.includes(word));
  const isNoun = (word = "") => isContent(word) && lexicon.canBeNoun(word);
  return (
    rest.find((word, i) => {
      const next = rest[i + 1];
      return isNoun(word) && (!isNoun(next) || lexicon.mainClass(next!) !== "noun");
    }) ?? null
  );
}

/** Returns the words of capitalised words inside a sentence, and numbers. */
function namesIn(question: string): string[] {
  const names = question.matchAll(
    /(?<=[^\s.?!]\s+["“'(]?)(?:\p{Lu}[\p{L}\p{M}'’-]*|\p{N}[\p{N}.,:]*)/gu,
  );
  return [...names].flatMap(([name]) => uniqueWords(name));
}
