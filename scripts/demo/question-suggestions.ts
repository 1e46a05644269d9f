import type { Segment } from "sightline";
import { isEnglishFunctionWord } from "../../src/text/languages.ts";
import type { Vocabulary } from "./vocabulary.ts";

/** A question to suggest, and the asset with the sentence that it is built from. */
export interface QuestionSuggestion {
  text: string;
  assetId: string;
}

type Source = Pick<Segment, "asset_id" | "transcript">;

const SEGMENTER = new Intl.Segmenter("en", { granularity: "sentence" });
const DETERMINER = /^(?:a|an|the|his|her|their|its|this|that|one|two|three|four)$/;
const PREPOSITION = /^(?:at|down|in|into|near|on|through|under|up)$/;
const PRONOUN = /^(?:he|she|someone|somebody)$/;
/** Frequent past tenses that don't end with "ed". */
const PAST =
  /^(?:began|bought|broke|brought|built|caught|chose|drew|drove|found|gave|grew|led|lost|made|paid|ran|rode|sang|saw|sold|taught|threw|took|won|wrote)$/;
const MAX_OBJECT_WORDS = 3;

/** Builds questions from sentences of transcripts, one of each asset first. */
export function suggestQuestions(
  segments: readonly Source[],
  vocabulary: Vocabulary,
): QuestionSuggestion[] {
  const questions = segments.flatMap(({ asset_id: assetId, transcript }) =>
    [...SEGMENTER.segment(transcript)].flatMap(({ segment }) => {
      const text = formQuestion(segment, vocabulary);
      return text === null ? [] : [{ text, assetId }];
    }),
  );
  const used = new Set<string>();
  const first = questions.filter(({ assetId }) => !used.has(assetId) && used.add(assetId));
  return [...first, ...questions.filter((one) => !first.includes(one))];
}

/**
 * Turns a statement about someone or something into a question for it: "My grandfather built the
 * cabin." gives "Who built the cabin?". Null if that isn't possible.
 */
export function formQuestion(sentence: string, vocabulary: Vocabulary): string | null {
  const words = sentence.trim().split(/\s+/);
  const lower = words.map((word) => word.toLowerCase().replaceAll(/[^\p{L}\p{M}'’-]/gu, ""));
  for (const [i, word] of lower.entries()) {
    if (i === 0) continue;
    const isProgressive = /^(?:is|was)$/.test(word) && (lower[i + 1] ?? "").endsWith("ing");
    if (!isProgressive && !isFiniteVerb(word, vocabulary)) continue;
    const verb = isProgressive ? [word, lower[i + 1]!] : [word];
    const end = i + verb.length;
    const preposition = PREPOSITION.test(lower[end] ?? "") ? [lower[end]!] : [];
    const object = readObject(words, lower, end + preposition.length, vocabulary);
    const asked = findSubject(lower.slice(0, i), vocabulary);
    if (object === null || asked === null) continue;
    return `${asked} ${[...verb, ...preposition, ...object].join(" ")}?`;
  }
  return null;
}

/** Whether a word is a verb in the singular or in the past. */
function isFiniteVerb(word: string, { lexicon }: Vocabulary): boolean {
  if (PAST.test(word)) return true;
  return (
    /(?:[^s]s|ed)$/.test(word) && lexicon.mainClass(word) === "verb" && !isEnglishFunctionWord(word)
  );
}

/** Reads a determiner and a noun phrase that isn't followed by more of it. */
function readObject(
  words: readonly string[],
  lower: readonly string[],
  start: number,
  { lexicon }: Vocabulary,
): string[] | null {
  if (!DETERMINER.test(lower[start] ?? "")) return null;
  const phrase: string[] = [];
  for (let i = start + 1; i < words.length && phrase.length <= MAX_OBJECT_WORDS; i++) {
    const word = lower[i]!;
    const wordClass = lexicon.mainClass(word);
    if ((wordClass !== "noun" && wordClass !== "adjective") || isEnglishFunctionWord(word)) break;
    phrase.push(word);
    if (/[.,;:!?]$/.test(words[i]!)) break;
  }
  const head = phrase.at(-1);
  if (head === undefined || phrase.length > MAX_OBJECT_WORDS) return null;
  if (lexicon.mainClass(head) !== "noun" || !lexicon.isSpecific(head)) return null;
  return [lower[start]!, ...phrase];
}

/** Returns "Who" for a person, "What" for a thing; null if the subject can't be told. */
function findSubject(words: readonly string[], { lexicon }: Vocabulary): "Who" | "What" | null {
  if (words.length === 1 && PRONOUN.test(words[0]!)) return "Who";
  const first = words.findIndex((word) => lexicon.mainClass(word) === "noun");
  if (first === -1 || words.slice(0, first).some((word) => PREPOSITION.test(word))) return null;
  let head = words[first]!;
  for (const word of words.slice(first + 1)) {
    if (lexicon.mainClass(word) !== "noun") break;
    head = word;
  }
  if (lexicon.isKindOf(head, "person")) return "Who";
  return lexicon.isSpecific(head) ? "What" : null;
}
