import * as z from "zod";
import {
  OVERVIEW_WORDS,
  type Quote,
  quoteByWords,
  SCREEN_BREAK,
  sentencesOf,
  type SourceText,
} from "../../../src/answer/extractive.ts";
import { NO_ANSWER } from "../../../src/prompts.ts";
import { contentWords } from "../../../src/search/query.ts";
import { detectLanguage } from "../../../src/text/languages.ts";
import { splitSentences } from "../../../src/text/sentences.ts";
import type { Capability } from "../capability.ts";
import { toPlural } from "../caption.ts";
import type { ChatMessage, ChatModel } from "../chat.ts";
import { COCO_LABELS, type CocoLabel } from "../coco.ts";
import { EngineError } from "../errors.ts";
import type { SentenceEncoder } from "../sentences.ts";
import { isGerman, type ContextQuote, quoteGerman } from "./german.ts";
import data from "./lexicon.json" with { type: "json" };
import { Lexicon } from "./lexicon.ts";
import { analyzeQuestion } from "./question.ts";
import { BY_MEANING, quoteByMeaning } from "./quote-by-meaning.ts";
import {
  gatherEvidence,
  NO_CONTEXT,
  type QuoteEvidence,
  refersTo,
  type SentenceContext,
} from "./verifier.ts";

/** Name of the model: `model` of an answer that it wrote. */
export const QUOTE_MODEL = "extractive";

/**
 * Creates the chat model of a machine without a language model. It gets the prompt that every model
 * gets (src/prompts.ts) and replies with verbatim sentences of the evidence and their markers, or
 * that the evidence has no answer. It knows nothing else: the `reason` of the missing language
 * model is the error of every other prompt (`model_not_found`).
 */
export function createQuoteModel(
  sentences: Capability<SentenceEncoder>,
  reason: string,
): ChatModel {
  const lexicon = new Lexicon(data);
  return {
    async answer({ messages }, onText, caller) {
      const prompt = readPrompt(messages);
      if (!prompt) throw new EngineError("model_not_found", reason);
      const embed = (texts: readonly string[]) =>
        sentences.use((encoder, signal) => encoder.embed(texts, signal), caller);
      const text = formatReply(await findQuotes(prompt, lexicon, embed), prompt.isMarkdown);
      onText(text);
      const tokens = { promptTokens: 0, completionTokens: 0 };
      return { model: QUOTE_MODEL, text, ...tokens, finishReason: "stop" };
    },
  };
}

interface QuotableText extends SourceText {
  title: string;
  saidBefore: string;
}

interface AnswerPrompt {
  /** The question, with the subject that was searched for. */
  question: string;
  /** Evidence by marker. */
  sources: Map<number, QuotableText>;
  isMarkdown: boolean;
}

const Line = z.union([
  z.object({
    evidence: z.int(),
    title: z.string().default(""),
    said_before: z.string().default(""),
    said: z.string().default(""),
    written: z.string().default(""),
    shown: z.string().default(""),
  }),
  z.object({ note: z.string() }),
]);
const QUESTION = /^Question: (".*")$/;
const SUBJECT = /^Subject: (".*")$/;
const MARKER = /\[(\d{1,3})\]/;

/** Reads the prompt of an answer, line by line. Null for another prompt. */
function readPrompt(messages: readonly ChatMessage[]): AnswerPrompt | null {
  const [system = "", user = ""] = messages.map(({ content }) =>
    typeof content === "string"
      ? content
      : content.map((part) => ("text" in part ? part.text : "")).join("\n"),
  );
  const lines = user.split("\n");
  const question = lastMatch(lines, QUESTION);
  if (!system.includes(NO_ANSWER) || question === null) return null;
  const subject = lastMatch(lines, SUBJECT);
  const sources = new Map<number, QuotableText>();
  for (const line of lines.filter((text) => text.startsWith("{"))) {
    const read = Line.parse(JSON.parse(line));
    if ("evidence" in read) {
      const { title, said_before: saidBefore, said: speech } = read;
      const { written: onScreenText } = read;
      const caption = splitSentences(read.shown).filter(isProof).join(" ");
      sources.set(read.evidence, { title, saidBefore, speech, onScreenText, caption });
    } else addNote(sources, read.note);
  }
  const isMarkdown = /^Write Markdown/m.test(system);
  return { question: subject === null ? question : `${question} ${subject}`, sources, isMarkdown };
}

/**
 * Labels that are true where the offline detector finds them: in nine of ten photos or more, by the
 * captions that people wrote for 1,474 photos (docs/experiments/answers.md).
 */
const PROVEN_LABELS: ReadonlySet<CocoLabel> = new Set(["person", "dog", "skateboard"]);
const UNPROVEN = new Set(
  COCO_LABELS.flatMap((label) =>
    PROVEN_LABELS.has(label) ? [] : [label, toPlural(label).toLowerCase()],
  ),
);
const COUNT = /^(?:an?|one|two|three|four|five|six|seven|eight|nine|ten|many) (?:pairs? of )?/;

/** Whether a sentence of a caption may be quoted: any but one of a label that is often wrong. */
function isProof(sentence: string): boolean {
  return !UNPROVEN.has(sentence.toLowerCase().replace(/\.$/, "").replace(COUNT, ""));
}

/** Returns the JSON string in the last line that matches. */
function lastMatch(lines: readonly string[], pattern: RegExp): string | null {
  const json = lines.flatMap((line) => pattern.exec(line)?.[1] ?? []).at(-1);
  return json === undefined ? null : z.string().parse(JSON.parse(json));
}

/** Adds the sentences of an answer about a part of a video to the sources that they cite first. */
function addNote(sources: Map<number, QuotableText>, note: string): void {
  const parts = note.split(MARKER);
  for (let i = 0; i + 1 < parts.length; i += 2) {
    const [sentence, marker] = [parts[i]!.trim().replace(/^- /, ""), Number(parts[i + 1])];
    if (sentence === "") continue; // another marker of the sentence before
    const before = sources.get(marker)?.speech ?? "";
    const speech = `${before} ${sentence}`.trim();
    sources.set(marker, { title: "", saidBefore: "", speech, onScreenText: "", caption: "" });
  }
}

/**
 * Returns the sentences that answer the question, best first. Sentences in the question's words
 * come first; if there are none, those in other words. A question that isn't in English is answered
 * in its words only, and one that names nothing by evenly spaced sentences.
 */
async function findQuotes(
  { question, sources }: Pick<AnswerPrompt, "question" | "sources">,
  lexicon: Lexicon,
  embed: (texts: readonly string[]) => Promise<number[][]>,
): Promise<Quote[]> {
  if (isGenericQuestion(question)) return sampleQuotes(sources);
  const all = [...sources].flatMap(([marker, source]) =>
    sentencesOf(source).map((sentence) => ({ sentence, marker })),
  );
  const contexts = contextsOf(sources);
  if (isGerman(question)) {
    const contextOf = (sentence: string) => Object.values(contexts.get(sentence) ?? {}).join(" ");
    return bestOwn(quoteGerman(question, all, contextOf));
  }
  const literal = quoteByWords(question, sources);
  if (detectLanguage(question) !== "en") return literal;
  const parts = analyzeQuestion(question, lexicon);
  const referredTo = (sentence: string) => refersTo(sentence, contexts.get(sentence));
  const compare = (sentence: string) => {
    const { titles } = contexts.get(sentence) ?? NO_CONTEXT;
    return gatherEvidence(sentence, parts, lexicon, { before: referredTo(sentence), titles });
  };
  const answering = literal.filter(({ sentence }) => isLiteralAnswer(compare(sentence)));
  if (answering.length > 0) return answering;
  const complete = all.flatMap((quote) => {
    const { sentence } = quote;
    const evidence = gatherEvidence(sentence, parts, lexicon, contexts.get(sentence));
    return evidence && isComplete(evidence) ? [{ ...quote, own: evidence.own }] : [];
  });
  const inOwnWords = bestOwn(complete);
  if (inOwnWords.length > 0) return inOwnWords;
  const inContext = (sentence: string) => {
    const before = referredTo(sentence);
    return before === "" ? sentence : `${before} ${sentence}`;
  };
  return quoteByMeaning({ question, compare, inContext, embed }, all);
}

/** Sentences before one in which its subject is looked for. */
const MAX_BEFORE = 3;

/** Returns what each sentence of the sources may refer to. */
function contextsOf(sources: ReadonlyMap<number, QuotableText>): Map<string, SentenceContext> {
  return new Map(
    [...sources.values()].flatMap(({ title, saidBefore, speech, onScreenText }) => {
      const titles = `${title.replace(/\.\w+$/, "")} ${onScreenText}`;
      const screens = onScreenText.split(SCREEN_BREAK).map((text) => text.replaceAll("\n", " "));
      return [`${saidBefore} ${speech}`, ...screens].flatMap((text) =>
        splitSentences(text).map((sentence, i, sentences) => {
          const before = sentences.slice(Math.max(0, i - MAX_BEFORE), i).join(" ");
          return [sentence, { before, titles }] as const;
        }),
      );
    }),
  );
}

/**
 * Whether a sentence in the question's words may answer it: it must name all that the question
 * names, have its verb, and state what is asked for, or a word that nobody knows.
 */
function isLiteralAnswer(evidence: QuoteEvidence | null): boolean {
  if (evidence === null) return false;
  const { missing, missingNouns, lacksVerb, mayBeAgent, stated, hasUnknown, isTyped } = evidence;
  if (missingNouns > 0 || lacksVerb) return false;
  if (stated !== false) return true;
  return !isTyped && missing === 0 && (mayBeAgent || hasUnknown);
}

/** Share of a question that a sentence must have itself if the rest of it stands before. */
const MIN_OWN = 1 / 3;

/** Returns the sentence that has most of a question itself; none if that isn't enough. */
function bestOwn(quotes: readonly ContextQuote[]): Quote[] {
  const [best] = quotes.filter(({ own }) => own >= MIN_OWN).toSorted((a, b) => b.own - a.own);
  return best ? [{ sentence: best.sentence, marker: best.marker }] : [];
}

/** Whether all of a question is named by stem, its verb too, and what is asked for is stated. */
function isComplete({ missing, meanings, lacksVerb, stated }: QuoteEvidence): boolean {
  return missing === 0 && meanings === 0 && !lacksVerb && stated === true;
}

/** Tests whether a question names nothing specific: "What happens here?" */
export function isGenericQuestion(question: string): boolean {
  return contentWords(question).every((word) => OVERVIEW_WORDS.has(word));
}

/**
 * Quotes the first sentence of evenly spaced sources: of their speech, on-screen text or caption.
 */
function sampleQuotes(sources: ReadonlyMap<number, SourceText>): Quote[] {
  const quotes = [...sources].flatMap(([marker, source]) => {
    const [sentence] = sentencesOf(source);
    return sentence === undefined ? [] : [{ sentence, marker }];
  });
  const step = Math.max(1, quotes.length / BY_MEANING.maxSentences);
  const sampled = quotes.filter((_, i) => i % step < 1);
  return [...new Map(sampled.map((quote) => [quote.sentence, quote])).values()];
}

/** Writes each quote on a line of its own, with its marker behind it. */
function formatReply(quotes: readonly Quote[], isMarkdown: boolean): string {
  const lines = quotes.map(({ sentence, marker }) => {
    return `${isMarkdown ? "- " : ""}${sentence.replaceAll(/\s+/g, " ")} [${marker}]`;
  });
  return lines.join("\n") || NO_ANSWER;
}
