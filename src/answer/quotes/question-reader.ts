import { Lexicon } from "./lexicon.ts";
import { analyzeQuestion } from "./question.ts";
import { agreesWithLabels } from "./stated-attribute.ts";
import { gatherEvidence, type QuoteEvidence } from "./verifier.ts";

/** Compares sentences with a question. */
export interface QuestionReader {
  question: string;
  /** Null if the sentence lacks a name or a number of the question. */
  compare: (sentence: string) => QuoteEvidence | null;
  /**
   * Whether a caption doesn't count otherwise than a detector, whose labels are given, one for each
   * object. True if the question asks for no number, or the detector found no such object.
   */
  agreesWithLabels: (caption: string, labels: readonly string[]) => boolean;
}

let lexicon: Promise<Lexicon> | null = null;

/** Takes a question in English apart, to compare sentences with it. */
export async function readQuestion(question: string): Promise<QuestionReader> {
  lexicon ??= loadLexicon();
  const words = await lexicon;
  const analyzed = analyzeQuestion(question, words);
  return {
    question,
    compare: (sentence) => gatherEvidence(sentence, analyzed, words),
    agreesWithLabels: (caption, labels) => agreesWithLabels(caption, labels, analyzed, words),
  };
}

/** Reads the lexicon, half a megabyte, once it is needed. */
async function loadLexicon(): Promise<Lexicon> {
  const { default: data } = await import("./lexicon.json", { with: { type: "json" } });
  return new Lexicon(data);
}
