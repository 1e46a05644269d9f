import { toOneLine } from "../clean-text.ts";
import { ANSWER, MODELS } from "../config.ts";
import { AppError, isDeferrable, traceOf } from "../errors.ts";
import { log } from "../log.ts";
import { generate, type GeneratedText } from "../models/generate.ts";
import {
  type AnswerStyle,
  evidenceText,
  NO_ANSWER,
  noteText,
  questionText,
  RULES,
  systemText,
} from "../prompts.ts";
import type { Hit } from "../search/hits.ts";
import { detectLanguage, parseLanguage } from "../text/languages.ts";
import { CitationVerifier } from "./citation-verifier.ts";
import type { ClaimContext, ClaimEvidence } from "./claim.ts";
import { type Quote, quoteByWords } from "./extractive.ts";
import { escapeMarkdown, toPlainText, toSafeMarkdown } from "./markdown.ts";
import { type Citation, type Source, toEvidence } from "./sources.ts";

/** A finished answer. */
export interface Answer {
  /** Sentences with citation markers, `[1]`: plain text or Markdown, as requested. */
  text: string;
  /** False if the index has no answer; `citations` is empty then. */
  grounded: boolean;
  /** Sorted by their first markers in the text. */
  citations: Citation[];
  /** Name of the model; `extractive` if the answer is quoted without one. */
  model: string;
  /** If it isn't grounded, what a search finds: the closest moments, which prove nothing. */
  related: readonly Hit[];
  usage: { inputTokens: number; outputTokens: number };
}

/** Events of an answer: the sources that it may cite, chunks of its text, and the whole answer. */
export type AnswerEvent = { citations: Citation[] } | { delta: string } | { done: Answer };

/** A question with the evidence that the model gets. */
export interface AnswerTask {
  question: string;
  /** What the evidence was searched for, if that isn't the question; may be empty. */
  searchTerm?: string;
  /** Evidence by marker. */
  sources: ReadonlyMap<number, Source>;
  /** JPEGs of some sources, by marker. */
  images: ReadonlyMap<number, Uint8Array>;
  /** Markers of sources whose image the model saw when it wrote `notes`. */
  seenBefore?: ReadonlySet<number>;
  style: AnswerStyle;
  topP?: number;
  /** Searches for moments that are close to the question, best first. */
  findRelated: () => Promise<readonly Hit[]>;
  /** Where nothing answers the question, if nothing does. */
  scope: "index" | "indices" | "video";
  /** `MAP_PROMPT` or `REDUCE_PROMPT`, for an answer about windows of a video. */
  instruction?: string;
  /** Answers about the windows, which replace the evidence in the reduce step. */
  notes?: readonly string[];
  /** Failure of a window's answer. */
  failure?: AppError | null;
}

const NO_ANSWER_TEXT = {
  index: "Nothing in this index answers that.",
  indices: "Nothing in these indices answers that.",
  video: "Nothing in this video answers that.",
};
const FAILED_TEXT = "The language model failed, and no sentence has the words of the question.";
const EXTRACTIVE = "extractive";

/**
 * Answers from the sources: a model's answer, of which only verified sentences are passed on. If no
 * sentence is verified, or the model fails, the answer quotes sentences in the question's words;
 * without quotes, it says so and has the closest moments. Throws a deferrable failure of the model
 * if there are none either, and the reason of `signal` once that aborts.
 */
export async function* composeAnswer(
  env: Env,
  task: AnswerTask,
  signal?: AbortSignal,
): AsyncGenerator<AnswerEvent> {
  const hasEvidence = (task.notes?.length ?? task.sources.size) > 0;
  const { answer, failure } = hasEvidence
    ? yield* generateVerified(env, task, signal)
    : { answer: null, failure: task.failure ?? null };
  if (answer) {
    yield { done: await addRelated(answer, task) };
    return;
  }
  const quotes = quoteByWords(`${task.question} ${task.searchTerm ?? ""}`, task.sources);
  const quoted = await addRelated(toQuotedAnswer(quotes, task, failure !== null), task);
  const isEmpty = !quoted.grounded && quoted.related.length === 0;
  if (isEmpty && isDeferrable(failure)) throw failure;
  yield* answerEvents(quoted);
}

/** A marker that isn't escaped. */
const MARKER = /(?<!\\)\[(\d{1,3})\]/g;

/**
 * Numbers the citations of an answer from 1, in the order in which its text uses them. The event of
 * those so far comes before the text that uses a new one.
 */
export async function* numberCitations(
  events: AsyncIterable<AnswerEvent>,
): AsyncGenerator<AnswerEvent> {
  const citable = new Map<number, Hit>();
  const numbers = new Map<number, number>();
  const number = (text: string) =>
    text.replaceAll(MARKER, (written, digits: string) => {
      const source = Number(digits);
      if (!citable.has(source)) return written;
      if (!numbers.has(source)) numbers.set(source, numbers.size + 1);
      return `[${numbers.get(source)}]`;
    });
  const used = () =>
    Array.from(numbers, ([source, marker]) => ({ marker, hit: citable.get(source)! }));
  for await (const event of events) {
    if ("citations" in event) {
      for (const { marker, hit } of event.citations) citable.set(marker, hit);
    } else if ("delta" in event) {
      const before = numbers.size;
      const delta = number(event.delta);
      if (numbers.size > before) yield { citations: used() };
      yield { delta };
    } else {
      yield { done: { ...event.done, text: number(event.done.text), citations: used() } };
    }
  }
}

/** Adds the closest moments to an answer that isn't grounded. */
async function addRelated(answer: Answer, { findRelated }: AnswerTask): Promise<Answer> {
  if (answer.grounded) return answer;
  const hits = (await findRelated()).filter(({ score }) => score >= ANSWER.minScore);
  return { ...answer, related: hits.slice(0, ANSWER.maxRelated) };
}

/** Yields the events of a finished answer. */
export function* answerEvents(answer: Answer): Generator<AnswerEvent> {
  if (answer.grounded) yield { citations: answer.citations };
  yield { delta: answer.text };
  yield { done: answer };
}

/** The outcome of generation: no answer if no sentence was verified. */
export interface GeneratedAnswer {
  answer: Answer | null;
  /** Why the model failed. */
  failure: AppError | null;
}

/** Generates an answer and yields its verified sentences. Throws as `composeAnswer` does. */
export async function* generateVerified(
  env: Env,
  task: AnswerTask,
  signal?: AbortSignal,
): AsyncGenerator<AnswerEvent, GeneratedAnswer> {
  const { sources, style } = task;
  const citations = [...sources].map(([marker, { hit }]) => ({ marker, hit }));
  const verifier = new CitationVerifier(toClaimEvidence(task), RULES, toClaimContext(task));
  const clean = style.markdown ? toSafeMarkdown : toPlainText;
  let [generatedText, text] = ["", ""];
  const release = function* (verified: string): Generator<AnswerEvent> {
    const delta = clean(verified);
    if (delta.trim() === "" || delta.includes(NO_ANSWER)) return;
    if (text === "") yield { citations };
    text += delta;
    yield { delta };
  };
  let generated: GeneratedText | null = null;
  let failure: AppError | null = null;
  try {
    const chunks = generate(env.AI, toPrompt(task), signal);
    let next = await chunks.next();
    for (; !next.done; next = await chunks.next()) {
      generatedText += next.value;
      if (generatedText.length > ANSWER.maxCharacters) continue;
      yield* release(verifier.push(next.value));
    }
    generated = next.value;
    // The last sentence of an incomplete text may be cut off: it is dropped.
    const isWhole = generated.isComplete && generatedText.length <= ANSWER.maxCharacters;
    if (isWhole) yield* release(verifier.end());
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    failure = error;
    log("warn", "answer.model_unavailable", { code: error.code, cause: traceOf(error) });
  }
  const { model, usage } = generated ?? { model: MODELS.answer.id, usage: NO_USAGE };
  const rest = { model, related: [], usage };
  if (text !== "") {
    const cited = verifier.cited.map((marker) => ({ marker, hit: sources.get(marker)!.hit }));
    const answer = { text: text.trim(), grounded: true, citations: cited, ...rest };
    return { answer, failure };
  }
  if (!generatedText.includes(NO_ANSWER)) return { answer: null, failure };
  const nothing = NO_ANSWER_TEXT[task.scope];
  yield { delta: nothing };
  const answer = { text: nothing, grounded: false, citations: [], ...rest };
  return { answer, failure };
}

/** Returns the evidence that the answer is verified against, by marker. */
function toClaimEvidence({ sources, images, seenBefore }: AnswerTask): Map<number, ClaimEvidence> {
  const hasImage = (marker: number) => images.has(marker) || (seenBefore?.has(marker) ?? false);
  return new Map(
    Array.from(sources, ([marker, source]) => {
      return [marker, { ...toEvidence(source), hasImage: hasImage(marker) }];
    }),
  );
}

/** Returns the language of the answer as requested, or else that of the question. */
function toClaimContext({ question, style: { language } }: AnswerTask): ClaimContext {
  return { question, language: language ? parseLanguage(language) : detectLanguage(question) };
}

const NO_USAGE = { inputTokens: 0, outputTokens: 0 };

function toPrompt(task: AnswerTask) {
  const { question, searchTerm, sources, images, style, topP, instruction, notes } = task;
  const evidence = [...sources].flatMap(([marker, source]) => {
    const text = evidenceText(marker, toEvidence(source));
    const jpeg = images.get(marker);
    return jpeg ? [{ text }, { jpeg }] : [{ text }];
  });
  const parts = notes?.map((note) => ({ text: noteText(note) })) ?? evidence;
  return {
    system: systemText(style, instruction),
    content: [{ text: "Evidence:" }, ...parts, { text: questionText(question, searchTerm) }],
    ...(topP !== undefined && { topP }),
  };
}

/** A number in brackets that a quote contains, which isn't a citation marker. */
const BRACKETED = /\[(\d{1,3})\]/g;

/** Makes an answer of verbatim quotes. */
function toQuotedAnswer(
  quotes: readonly Quote[],
  { sources, style: { markdown }, scope }: AnswerTask,
  isFallback: boolean,
): Answer {
  const lines = quotes.map(({ sentence, marker }) => {
    const quoted = toOneLine(sentence);
    const text = markdown ? escapeMarkdown(quoted) : quoted.replaceAll(BRACKETED, "($1)");
    return `${text} [${marker}]`;
  });
  const text = lines.map((line) => (markdown ? `- ${line}\n` : `${line} `)).join("");
  return {
    text: text.trim() || (isFallback ? FAILED_TEXT : NO_ANSWER_TEXT[scope]),
    grounded: lines.length > 0,
    citations: quotes.map(({ marker }) => ({ marker, hit: sources.get(marker)!.hit })),
    model: EXTRACTIVE,
    related: [],
    usage: NO_USAGE,
  };
}
