import { ANSWER, MODELS } from "../config.ts";
import { AppError, isDeferrable, traceOf } from "../errors.ts";
import { log } from "../log.ts";
import { type GeneratedText, generate } from "../models/generate.ts";
import {
  evidenceText,
  NO_ANSWER,
  noteText,
  questionText,
  RULES,
  type AnswerStyle,
  systemText,
} from "../prompts.ts";
import type { Hit } from "../search/hits.ts";
import { CitationVerifier } from "./citation-verifier.ts";
import { detectLanguage, parseLanguage } from "./claim-language.ts";
import type { ClaimEvidence, ClaimContext } from "./claim.ts";
import { escapeMarkdown, toPlainText, toSafeMarkdown } from "./markdown.ts";
import type { Quote } from "./quotes/quote-by-meaning.ts";
import { type Citation, type Source, toClaimEvidence } from "./sources.ts";

/** A finished answer. */
export interface Answer {
  /** Sentences with citation markers, `[1]`: plain text or Markdown, as requested. */
  text: string;
  /** False if the index has no answer; `citations` is empty then. */
  grounded: boolean;
  /** Sorted by their first markers in the text. */
  citations: Citation[];
  /** Id of the model; `extractive` if the answer is quoted without one. */
  model: string;
  /** If it isn't grounded, what a search finds: the closest moments, which prove nothing. */
  related: readonly Hit[];
  usage: { inputTokens: number; outputTokens: number };
  /** A model failed while answering: a retry may give a better answer. */
  isFallback: boolean;
}

/** Events of an answer: the sources that it may cite, chunks of its text, and the whole answer. */
export type AnswerEvent = { citations: Citation[] } | { delta: string } | { done: Answer };

/** A question with the evidence that the model gets. */
export interface AnswerTask {
  question: string;
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
const EXTRACTIVE = "extractive";

/**
 * Answers from the sources: a model's answer, of which only verified sentences are passed on. If no
 * model is available, or no sentence is verified, the answer consists of verbatim quotes; without
 * quotes, it says that nothing answers the question. Throws a deferrable failure of the model if
 * there is nothing to quote, and the reason of `signal` once that aborts.
 */
export async function* composeAnswer(
  env: Env,
  task: AnswerTask,
  quote: () => Quote[] | Promise<Quote[]>,
  signal?: AbortSignal,
): AsyncGenerator<AnswerEvent> {
  const hasSources = task.sources.size > 0;
  const { answer, failure } = hasSources
    ? yield* generateVerified(env, task, signal)
    : { answer: null, failure: task.failure ?? null };
  if (answer) {
    yield { done: await addRelated(answer, task) };
    return;
  }
  const quotes = await quote();
  if (quotes.length === 0 && isDeferrable(failure)) throw failure;
  const quoted = toQuotedAnswer(quotes, task, failure !== null);
  yield* answerEvents(await addRelated(quoted, task));
}

/** Lowest score of a moment beside an answer that isn't grounded. */
const MIN_RELATED_SCORE = 0.02;

/** Adds the closest moments to an answer that isn't grounded. */
async function addRelated(answer: Answer, { findRelated }: AnswerTask): Promise<Answer> {
  if (answer.grounded) return answer;
  const hits = (await findRelated()).filter(({ score }) => score >= MIN_RELATED_SCORE);
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
  /** Why the model failed. Null also for a missing model (`model_not_found`). */
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
  const verifier = new CitationVerifier(toEvidence(task), RULES, toClaimContext(task));
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
    if (error.code !== "model_not_found") failure = error;
    log("warn", "answer.model_unavailable", { code: error.code, cause: traceOf(error) });
  }
  const { model, usage } = generated ?? { model: MODELS.answer.id, usage: NO_USAGE };
  const rest = { model, related: [], usage, isFallback: failure !== null };
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
function toEvidence({ sources, images, seenBefore }: AnswerTask): Map<number, ClaimEvidence> {
  const hasImage = (marker: number) => images.has(marker) || (seenBefore?.has(marker) ?? false);
  const evidence = [...sources].map(([marker, source]) => {
    return [marker, toClaimEvidence(source, hasImage(marker))] as const;
  });
  return new Map(evidence);
}

/** Returns the language of the answer as requested, or else that of the question. */
function toClaimContext({ question, style: { language } }: AnswerTask): ClaimContext {
  return { question, language: language ? parseLanguage(language) : detectLanguage(question) };
}

const NO_USAGE = { inputTokens: 0, outputTokens: 0 };

function toPrompt({ question, sources, images, style, topP, instruction, notes }: AnswerTask) {
  const evidence = [...sources].flatMap(([marker, source]) => {
    const { hit, speech, onScreenText, caption } = source;
    const { startMs, endMs } = hit.timeRange ?? hit.segment;
    const { title } = hit.asset;
    const fields = { title, startMs, endMs, speech, onScreenText, caption };
    const text = evidenceText(marker, fields);
    const jpeg = images.get(marker);
    return jpeg ? [{ text }, { jpeg }] : [{ text }];
  });
  const parts = notes?.map((note) => ({ text: noteText(note) })) ?? evidence;
  return {
    system: systemText(style, instruction),
    content: [{ text: "Evidence:" }, ...parts, { text: questionText(question) }],
    ...(topP !== undefined && { topP }),
  };
}

/** A number in brackets that a quote contains, which isn't a citation marker. */
const BRACKETED = /\[(\d{1,3})\]/g;

/** Makes an answer of verbatim quotes, numbered in order. */
function toQuotedAnswer(
  quotes: readonly Quote[],
  { style: { markdown }, scope }: AnswerTask,
  isFallback: boolean,
): Answer {
  const lines = quotes.map(({ sentence }, i) => {
    const text = markdown ? escapeMarkdown(sentence) : sentence.replaceAll(BRACKETED, "($1)");
    return `${text} [${i + 1}]`;
  });
  const text = lines.map((line) => (markdown ? `- ${line}\n` : `${line} `)).join("");
  return {
    text: text.trim() || NO_ANSWER_TEXT[scope],
    grounded: lines.length > 0,
    citations: quotes.map(({ hit }, i) => ({ marker: i + 1, hit })),
    model: EXTRACTIVE,
    related: [],
    usage: NO_USAGE,
    isFallback,
  };
}
