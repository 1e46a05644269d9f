import { Lexicon } from "./lexicon.ts";
import { analyzeQuestion } from "./question.ts";
import { gatherEvidence, type QuoteEvidence } from "./verifier.ts";

/** Compares sentences with a question. */
export interface QuestionReader {
  question: string;
  /** Null if the sentence lacks a name or a number of the question. */
  compare: (sentence: string) => QuoteEvidence | null;
}

let lexicon: Promise<Lexicon> | null = null;

/** Takes a question in English apart, to compare sentences with it. */
export async function readQuestion(question: string): Promise<QuestionReader> {
  lexicon ??= loadLexicon();
  const words = await lexicon;
  const analyzed = analyzeQuestion(question, words);
  return { question, compare: (sentence) => gatherEvidence(sentence, analyzed, words) };
}

/** Reads the lexicon, half a megabyte, once it is needed. */
async function loadLexicon(): Promise<Lexicon> {
  const { default: data } = await import("./lexicon.json", { with: { type: "json" } });
  return new Lexicon(data);
}
